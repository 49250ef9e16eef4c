"""Provide the files of the named data sets: their origin, and a checked copy of each file.

If the variable FWLAB_DATA is set, the files are read from this folder. Otherwise they are read from
the user's cache (FWLAB_DATA_CACHE overrides its location); a missing file is downloaded into the
cache from the base address FWLAB_DATA_URL. No public host exists, so there is no default address.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fwlab.files import write_atomically

SHA256: Mapping[str, str] = {
    "letter.npz": "ae44ec29179a6552a04e95248af928ce87779b505c5ab6e26c84d65f2e944912",
    "news20.npz": "ffcfe52598eaa2c2cda5e3c2282f0bbf967475f1944f288e27f99facffe3fabe",
    "news20_svd1024_train.npz": "8c87eb01a7a61ff41cfb323072e7ac7b9f3f0ec2af18a168861711eb4bc21df9",
    "news20_svd1024_test.npz": "732ce4cface06319029f8871c540ec92778ca7c8b939312e1728c4be2b0d8464",
    "fashion_mnist.npz": "1ba329aae6322f75f220dc2a8c93b4461f87afc08edbf0cb9bf9f78c41ace124",
    "ionosphere.npz": "4caeae0bcd7b9d68c29853e0120c978ea722e49e75fad0cb375ff527917e75ba",
    "spambase.npz": "e22c688d745cdc67cc422df74e487d62097f4e3836eeb2fd878c529374085baa",
    "winequality_white.npz": "38fe17ef9f15be0275de3b6899b163ec96ee647d1fe75617a1b8d0aaa8bdaec7",
    "winequality_red.npz": "8db4b0e0e5f43ff03e311ad5926740f5f24a738b622a8a847d7570ebbc5345e4",
    "caltech101_sil28.npz": "2b0811fa9f1f17f5c1a441f8bf807d8fba13c7fa2b1627d0309e21913e1323b6",
    "caltech101_sil16_derived.npz": (
        "48dad99a75692da5b8f6e34ac575d58bd24caef030e1f435742f781f3780fec0"
    ),
}


class FileSet(NamedTuple):
    """A named set that is stored in files: the file names, the origin and the licence."""

    files: tuple[str, ...]
    source: str
    licence: str


_UCI_LICENCE = "none stated with this copy (UCI: CC BY 4.0, to be confirmed)"
_NEWS20 = (
    "20 Newsgroups, word counts made from the raw messages in github.com/duboya/20Newsgroups"
    "@fe9d3345; not LIBSVM's file"
)
_SILHOUETTES = (
    "Caltech 101 Silhouettes 28x28 (Marlin), split 1, from github.com/Boltzxuann/RP-iRBM@ed15a4b3"
)

FILE_SETS = {
    "letter": FileSet(
        ("letter.npz",),
        "UCI Letter Recognition as integers 0..15, from github.com/quark0/AnchorClouds@479d7e72",
        _UCI_LICENCE,
    ),
    "news20": FileSet(("news20.npz",), _NEWS20, "none stated (public Usenet posts)"),
    "news20_svd1024": FileSet(
        ("news20_svd1024_train.npz", "news20_svd1024_test.npz"),
        f"{_NEWS20}; truncated SVD of the train part's counts, rounded to float16",
        "none stated (public Usenet posts)",
    ),
    "fashion_mnist": FileSet(
        ("fashion_mnist.npz",),
        "Fashion-MNIST, pixels 0..255, bit-exact from the images in "
        "github.com/Sentdex/nnfs_book@6c459c9e",
        "MIT (Zalando SE)",
    ),
    "caltech101_sil28": FileSet(("caltech101_sil28.npz",), _SILHOUETTES, "none stated"),
    "caltech101_sil16_derived": FileSet(
        ("caltech101_sil16_derived.npz",),
        f"{_SILHOUETTES}; area averages on a 16x16 grid, not Marlin's own 16x16 set",
        "none stated",
    ),
    "ionosphere": FileSet(
        ("ionosphere.npz",),
        "UCI Ionosphere, from github.com/jbrownlee/Datasets@d20fcb64; 1 is 'g'",
        _UCI_LICENCE,
    ),
    "spambase": FileSet(
        ("spambase.npz",),
        "UCI Spambase, from github.com/probml/pmtkdata@42bc2738; 1 is spam",
        _UCI_LICENCE,
    ),
    "winequality_red": FileSet(
        ("winequality_red.npz",),
        "UCI Wine Quality, red, from github.com/jbrownlee/Datasets@d20fcb64; 1 is quality >= 7",
        _UCI_LICENCE,
    ),
    "winequality_white": FileSet(
        ("winequality_white.npz",),
        "UCI Wine Quality, white, from github.com/jbrownlee/Datasets@d20fcb64; 1 is quality >= 7",
        _UCI_LICENCE,
    ),
}


def data_file(file: str, registry: Mapping[str, str] = SHA256) -> Path:
    """Return the path of a checked copy of `file`, downloaded if necessary.

    Raises FileNotFoundError if there is no copy and no address, OSError if the download fails, and
    ValueError if the sha256 of the bytes differs from the registry.
    """
    expected = registry[file]
    folder = os.environ.get("FWLAB_DATA")
    if folder:
        path = Path(folder) / file
        if not path.is_file():
            raise FileNotFoundError(f"the folder FWLAB_DATA = {folder!r} holds no file {file!r}.")
        _verify(path, expected, str(path))
        return path
    cached = cache_folder() / file
    base = os.environ.get("FWLAB_DATA_URL")
    if cached.is_file():
        # A damaged copy is downloaded again if there is an address; otherwise it is an error.
        if base and file_sha256(cached) != expected:
            _download(base, cached, expected)
        else:
            _verify(cached, expected, str(cached))
        return cached
    if not base:
        raise FileNotFoundError(
            f"the data file {file!r} is not in the cache {str(cached.parent)!r} and has no public "
            "host: set FWLAB_DATA to a folder that holds it, or FWLAB_DATA_URL to a base address "
            "that serves it."
        )
    _download(base, cached, expected)
    return cached


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cache_folder() -> Path:
    """Return the folder of downloaded files: a temporary one for a user without a home."""
    override = os.environ.get("FWLAB_DATA_CACHE")
    if override:
        return Path(override)
    import pooch

    with suppress(RuntimeError):
        folder = Path(pooch.os_cache("fwlab"))
        if folder.is_absolute():  # older versions leave a "~" where there is no home
            return folder
    return Path(tempfile.gettempdir()) / "fwlab-data"


def _verify(path: Path, expected: str, origin: str) -> None:
    found = file_sha256(path)
    if found != expected:
        raise ValueError(f"{origin!r} has sha256 {found} where {expected} was expected.")


def _download(base: str, cached: Path, expected: str) -> None:
    """Download base/name, and write it to `cached` once it is complete and checked."""
    import pooch

    if not base.startswith(("http://", "https://")):
        raise ValueError(f"FWLAB_DATA_URL must begin with http:// or https://; got {base!r}.")
    url = f"{base.rstrip('/')}/{cached.name}"
    # Streaming would leave a socket open after a refused or broken response. The files are small.
    downloader = pooch.HTTPDownloader(stream=False)
    with tempfile.TemporaryDirectory() as folder:
        arrived = Path(folder) / cached.name
        try:
            downloader(url, str(arrived), None)
        except OSError as error:  # including the exceptions of requests
            raise OSError(f"{url!r} could not be downloaded: {error}.") from error
        _verify(arrived, expected, url)
        write_atomically(cached, lambda file: file.write(arrived.read_bytes()))
