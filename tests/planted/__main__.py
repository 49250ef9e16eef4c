"""Plant defects and print which test catches which.

    python tests/planted                     all of them
    python tests/planted kernels. newton     those whose module or name holds one of the words
    python tests/planted --compiled          the sample that runs with the JIT

The seconds are processor time. The exit code is 1 if a defect is not caught.
"""

import argparse
from collections.abc import Iterator

from planted_defects import Defect, read_defects
from planted_runs import Outcome, server


def outcomes(defects: list[Defect], compiled: bool) -> Iterator[tuple[Defect, Outcome]]:
    """Yield the outcome of the tests for each defect; with the JIT each one has its own cache."""
    if compiled:
        for defect in defects:
            with server(compiled=True) as running:
                yield defect, running.plant(defect)
        return
    with server() as running:
        for defect in defects:
            yield defect, running.plant(defect)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python tests/planted", description="Plant defects and print which test catches which."
    )
    parser.add_argument("words", nargs="*", help="parts of names of modules or defects")
    parser.add_argument("--compiled", action="store_true", help="the sample that runs with the JIT")
    given = parser.parse_args()
    chosen = [
        defect
        for defect in read_defects()
        if (defect.compiled or not given.compiled)
        and (not given.words or any(w in f"{defect.module} {defect.name}" for w in given.words))
    ]
    print("| module | defect | caught by | s |\n|---|---|---|---|")
    missed, seconds = 0, 0.0
    for defect, outcome in outcomes(chosen, given.compiled):
        missed, seconds = missed + (not outcome.failed), seconds + outcome.seconds
        by = outcome.failed or f"nothing (exit code {outcome.code})"
        row = (f"`{defect.module}`", defect.name, by.removeprefix("tests/"))
        print("| " + " | ".join(part.replace("|", "\\|") for part in row), end=" | ")
        print(f"{outcome.seconds:.1f} |", flush=True)
    print(f"\n{len(chosen) - missed} of {len(chosen)} caught, {seconds:.0f} s")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
