"""Use a reader's own files in place of features that are not available here.

A file has a train and a test part (`datasets.read_file` says how an .npz holds them) and lies in
the folder FWLAB_DATA.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from fwlab.experiments import DataName

# the papers' names of the data sets
FILES = {
    "ALOI": "aloi.npz",
    "CUB": "cub.npz",
    "ImageNet2012": "imagenet2012.npz",
    "Indoor67": "indoor67.npz",
    "Places205": "places205.npz",
    "Rcv1": "rcv1.npz",
    "SUN397": "sun397.npz",
    "Sector": "sector.npz",
}


def available(
    here: Mapping[str, DataName], names: Collection[str], size: str
) -> dict[str, DataName]:
    """Return the named sets that can be loaded: those in `here`, and the reader's own.

    The quick size omits the reader's own.
    """
    own = {} if size == "quick" else own_data(names)
    return {name: data for name, data in here.items() if name in names} | own


def own_data(names: Collection[str]) -> dict[str, DataName]:
    """Return the named sets that the reader has provided, with unit rows."""
    folder = Path(os.environ.get("FWLAB_DATA", "."))
    paths = {name: folder / file for name, file in FILES.items() if name in names}
    return {name: DataName(str(path), "unit") for name, path in paths.items() if path.is_file()}


def stored_sets(cells: Iterable[str], names: Collection[str]) -> list[str]:
    """Return the named sets for which a study has cells.

    The cells' names begin with the set's name.
    """
    first = {cell.partition(", ")[0] for cell in cells}
    return [name for name in names if name in first]


def missing(names: Collection[str]) -> str:
    """Return a caption's sentence: the missing features, and where to put your own files."""
    if not names:
        return ""
    files = ", ".join(FILES[name] for name in names)
    return (
        f"{', '.join(names)}: the features are unavailable here; your own may lie in the folder "
        f"FWLAB_DATA as {files}."
    )
