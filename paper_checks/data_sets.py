"""Load real data for the statements about training."""

from functools import lru_cache

import fwlab
from paper_checks.ledger import Untestable


@lru_cache(maxsize=8)
def data_set(name: str, normalize: str | None = "unit") -> fwlab.datasets.Dataset:
    """Return a data set of fwlab.datasets. Raises Untestable if its file is missing."""
    try:
        return fwlab.datasets.load(name, normalize=normalize)
    except FileNotFoundError as missing:
        reason = f"the data set {name} is not here; FWLAB_DATA names the folder of its file"
        raise Untestable(reason) from missing
