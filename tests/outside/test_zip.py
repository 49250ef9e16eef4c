"""The library inside a zip: it is imported, solves, keeps its kernels, and stores no runs."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np

import fwlab
from fwlab.kernels._jit import cache_folder

FOLDER = Path(fwlab.__file__).parent
PROGRAM = """
import warnings
import fwlab, numpy as np
from fwlab.experiments.store import NotStored
from fwlab.kernels._jit import cache_folder
problem = fwlab.Problem(np.eye(6, 4), np.arange(6) % 3, fwlab.TopK(1), 1.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", NotStored)
    comparison = fwlab.compare({"eye": problem}, ["subgradient"], max_iter=9, out="results")
print(fwlab.__file__)
print(cache_folder())
print(comparison.results["eye", "subgradient"].primal.hex())
print(caught[0].message)
"""


def test_the_library_runs_from_a_zip(tmp_path):
    """In a folder of another name than .zip, for which numba itself finds no place for a cache."""
    archive = tmp_path / "app.pyz"
    with ZipFile(archive, "w") as opened:
        for source in FOLDER.rglob("*.py"):
            opened.write(source, Path("fwlab", source.relative_to(FOLDER)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    file, folder, primal, warning = done.stdout.splitlines()
    assert file == str(archive / "fwlab" / "__init__.py")
    assert folder == str(cache_folder())  # the same sources, so the same machine code
    problem = fwlab.Problem(np.eye(6, 4), np.arange(6) % 3, fwlab.TopK(1), 1.0)
    assert primal == fwlab.solve(problem, "subgradient", max_iter=9).primal.hex()
    assert warning == (
        "eye subgradient will not be stored: fwlab runs from a zip or another place whose sources "
        "cannot be read."
    )
    assert not list((tmp_path / "results" / "runs").glob("*.npz"))
