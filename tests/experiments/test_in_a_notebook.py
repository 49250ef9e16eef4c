"""A figure of a comparison appears below the cell that draws it."""

import base64
import io

import matplotlib.image
import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

CELLS = (
    """
import numpy as np, fwlab
X = np.random.default_rng(0).normal(size=(24, 4))
problem = fwlab.Problem(X, np.arange(24) % 3, fwlab.TopK(2), 0.1)
comparison = fwlab.compare(problem, ["fw", "ascent"], max_iter=4, rng=[0, 1])
""",
    "axes = comparison.plot(figsize=(5, 3))",
    "comparison",
)


def test_a_notebook_shows_figures_and_tables(monkeypatch, tmp_path):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook's own one
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    _, drawing, table = notebook.cells
    (picture,) = (
        output["data"]["image/png"]
        for output in drawing["outputs"]
        if "image/png" in output.get("data", {})
    )
    pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(picture)))
    assert min(pixels.shape[:2]) > 200 and pixels[..., :3].min() < 0.5
    (shown,) = (o["data"]["text/html"] for o in table["outputs"] if "data" in o)
    assert shown.startswith("<table>") and "ascent" in shown
