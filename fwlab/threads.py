"""The threads of a run: work on rows is shared among them.

BLAS takes the same number inside `threads_in_blas` and one elsewhere: after each call its threads
wait busily for the next one, and would take the processor from the threads that work on rows.

threadpoolctl searches all loaded libraries for BLAS, which takes milliseconds, longer than a small
run. The search is repeated only after modules were imported.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from fwlab.arrays import Floats, cut

# a part starts at a multiple of this number of rows, where kernels start a group of rows anyway
ROWS = 64
# more parts than threads, for threads that other work delays
PARTS_PER_THREAD = 4


@dataclass(frozen=True)
class Threads:
    """Threads besides the one of the caller, which waits for them."""

    number: int
    pool: ThreadPoolExecutor
    process: int


_threads: ContextVar[Threads | None] = ContextVar("threads", default=None)
_torch_lock = Lock()


@contextmanager
def run_threads(n_threads: int) -> Iterator[None]:
    """Share the work on rows among n_threads threads in this context."""
    with one_blas_thread, ExitStack() as stack:
        threads = None
        if n_threads > 1:
            # in builds of BLAS with OpenMP each thread has its own limit
            pool = ThreadPoolExecutor(n_threads, initializer=blas_threads, initargs=(1,))
            threads = Threads(n_threads, stack.enter_context(pool), os.getpid())
        token = _threads.set(threads)
        try:
            yield
        finally:
            _threads.reset(token)


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Give torch this number of threads in this thread, if it is loaded; restore its own number.

    torch has one number for each thread, and one that a new thread begins with. To set the first
    one sets both, so that the second is put back from a new thread at once: runs that overlap in
    several threads would find each other's numbers there, and leave them.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    _set_own_number(torch, number)
    try:
        yield
    finally:
        _set_own_number(torch, before)


def _set_own_number(torch: Any, number: int) -> None:
    """Set torch's number of threads in this thread, and not for threads to come."""
    with _torch_lock:
        of_new_threads = _in_new_thread(torch.get_num_threads)
        torch.set_num_threads(number)
        _in_new_thread(torch.set_num_threads, of_new_threads)


def _in_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def _of_context() -> Threads | None:
    """Return the threads of this context; a forked process has none."""
    threads = _threads.get()
    return threads if threads is None or threads.process == os.getpid() else None


def number_of_threads() -> int:
    """Return the number of threads that share the work on rows in this context."""
    threads = _of_context()
    return 1 if threads is None else threads.number


def threads_in_blas() -> AbstractContextManager[object]:
    """Return a context in which BLAS takes the number of threads of the run."""
    threads = _of_context()
    return nullcontext() if threads is None else blas_threads(threads.number)


def for_rows(work: Callable[[slice], None], n_rows: int) -> None:
    """Call `work` for slices that are all rows together, in the threads of this context.

    It must treat each row by itself; the result then does not depend on the number of threads,
    except for the rounding of BLAS, which depends on the number of rows in a call.
    """
    threads = _of_context()
    if threads is None or n_rows <= ROWS:
        work(slice(0, n_rows))
        return
    groups = -(-n_rows // ROWS)
    size = -(-groups // (PARTS_PER_THREAD * threads.number)) * ROWS
    for task in [threads.pool.submit(work, part) for part in cut(slice(0, n_rows), size)]:
        task.result()


def for_parts(work: Callable[[tuple[int, int]], None], number: int) -> None:
    """Call work((first, last)) for one range of 0 .. number-1 in each thread of this context.

    The caller works, too: for short work that takes about as long in each range of a length, since
    to hand it to a thread costs some 20 microseconds.
    """
    threads = _of_context()
    together = 1 if threads is None else min(threads.number, max(number, 1))
    ends = [number * part // together for part in range(together + 1)]
    ranges = list(pairwise(ends))
    tasks = [threads.pool.submit(work, part) for part in ranges[1:]] if threads else []
    work(ranges[0])
    for task in tasks:
        task.result()


def sum_of_parts(
    add: Callable[[slice, Floats], None], n_rows: int, size: int, shape: tuple[int, int]
) -> Floats:
    """Return the sum over slices of `size` rows, of what add(rows, out) adds to out.

    Each thread computes one part at a time, in an array of its own. The parts are added in their
    order, so that the sum does not depend on the number of threads.
    """
    parts = [slice(start, start + size) for start in range(0, max(n_rows, 1), size)]
    total, threads = np.zeros(shape), _of_context()
    if len(parts) == 1:
        add(parts[0], total)
        return total
    together = 1 if threads is None else min(threads.number, len(parts))
    rooms = [np.empty(shape) for _ in range(together)]

    def product(part: slice, room: Floats) -> Floats:
        room[:] = 0.0
        add(part, room)
        return room

    apply = map if threads is None else threads.pool.map
    for start in range(0, len(parts), together):
        for room in apply(product, parts[start : start + together], rooms):
            total += room
    return total


def blas_threads(n_threads: int) -> AbstractContextManager[object]:
    """Return a context in which BLAS uses at most n_threads threads."""
    limit: AbstractContextManager[object] = _controller(len(sys.modules)).limit(
        limits=n_threads, user_api="blas"
    )
    return limit


class OneBlasThread:
    """A context in which BLAS uses one thread, as long as any thread of the process is inside."""

    def __init__(self) -> None:
        self.lock, self.inside, self.limit = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.limit.enter_context(blas_threads(1))
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limit.close()


one_blas_thread = OneBlasThread()


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Return the BLAS libraries that are loaded while there are n_modules modules."""
    return ThreadpoolController()
