"""Feature sets that are not to be had here: a reader's own files take their places.

A file has a train and a test part (`datasets.read_file` says how an .npz holds them) and lies in
the folder FWLAB_DATA.
"""

import os
from collections.abc import Collection, Iterable
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


def own_data(names: Collection[str]) -> dict[str, DataName]:
    """Those of the named sets that the reader has brought, with unit rows."""
    folder = Path(os.environ.get("FWLAB_DATA", "."))
    paths = {name: folder / file for name, file in FILES.items() if name in names}
    return {name: DataName(str(path), "unit") for name, path in paths.items() if path.is_file()}


def stored_sets(cells: Iterable[str], names: Collection[str]) -> list[str]:
    """Those of the named sets that a study has cells of: their names begin with the set's."""
    first = {cell.partition(", ")[0] for cell in cells}
    return [name for name in names if name in first]


def missing(names: Collection[str]) -> str:
    """A sentence for a caption: these features are not to be had, and where one's own belong."""
    if not names:
        return ""
    files = ", ".join(FILES[name] for name in names)
    return (
        f"{', '.join(names)}: the features are not to be had here; your own may lie in the folder "
        f"FWLAB_DATA as {files}."
    )
