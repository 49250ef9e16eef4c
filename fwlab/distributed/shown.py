"""Show how far a long pass over X is."""

import time
from collections.abc import Iterator

from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.distributed.sources import Order
from fwlab.streams import stderr
from fwlab.text import duration

SECONDS_BETWEEN_LINES = 5.0


def chunks_shown(
    problem: OutOfCoreProblem, work: str, shows: bool, order: Order | None = None
) -> Iterator[tuple[int, ChunkProblem]]:
    """Yield the place and the part of each chunk, or of those in `order`.

    If `shows`, lines on stderr say how far the pass is, and `work` names it.
    """
    began = shown = time.monotonic()
    n, places = problem.n_samples, range(len(problem.parts))
    left = n if order is None else sum(problem.parts[p].n_samples for p in order)
    before = n - left
    for place, part in zip(order or places, problem.chunks(order), strict=True):
        yield place, part
        left, now = left - part.n_samples, time.monotonic()
        if shows and now >= shown + SECONDS_BETWEEN_LINES:
            shown, done = now, n - left
            rest = duration((now - began) * left / (done - before))
            print(f"{work}: {done / n:.0%} of X, {rest} left", file=stderr(), flush=True)
