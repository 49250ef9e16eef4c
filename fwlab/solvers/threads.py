"""Limit the threads of BLAS during a run.

threadpoolctl searches all loaded libraries for BLAS, which takes milliseconds, longer than a small
run. The search is repeated only after modules were imported.
"""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def blas_threads(n_threads: int) -> AbstractContextManager[object]:
    """Return a context in which BLAS uses at most n_threads threads."""
    limit: AbstractContextManager[object] = _controller(len(sys.modules)).limit(
        limits=n_threads, user_api="blas"
    )
    return limit


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Return the BLAS libraries that are loaded while there are n_modules modules."""
    return ThreadpoolController()
