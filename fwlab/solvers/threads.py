"""Threads of BLAS during a run.

threadpoolctl looks through all loaded libraries for BLAS, which takes milliseconds: longer than a
small run. It does so again only when modules have been imported since.
"""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def blas_threads(n_threads: int) -> AbstractContextManager[object]:
    """A context in which BLAS uses at most so many threads."""
    return _controller(len(sys.modules)).limit(limits=n_threads, user_api="blas")


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """The BLAS libraries that are loaded while there are so many modules."""
    return ThreadpoolController()
