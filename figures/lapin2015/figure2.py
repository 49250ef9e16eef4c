"""L15 Figure 2: the top-k simplex for m = 3."""

from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.style import SERIES, ink, new_figure, state
from fwlab.experiments import Cell

M, KS = 3, (1, 2, 3)
SECONDS = {"quick": 3, "standard": 3, "full": 3}


def cells(size: str) -> list[Cell]:
    return [Cell(f"k = {k}", simplex, {"m": M, "k": k}) for k in KS]


def simplex(m: int, k: int) -> dict[str, Any]:
    """Return the vertices of the top-k simplex, and the largest change when they are projected.

    They come from the pseudo top-k loss with m + 1 classes, whose domain is the simplex of the
    other m.
    """
    vertices = -fwlab.PseudoTopK(k).vertices(m + 1, m)[:, :m]
    moved = fwlab.project_topk_simplex(vertices, k) - vertices
    edges = [(i, j) for i, j in combinations(range(len(vertices)), 2) if is_edge(vertices, i, j, k)]
    return {"vertices": vertices, "moved": np.abs(moved).max(), "edges": edges}


def is_edge(vertices: np.ndarray, i: int, j: int, k: int) -> bool:
    """Return whether the constraints active at both vertices leave one direction free."""
    constraints = [*np.eye(M), np.ones(M), *(np.eye(M) - np.ones((M, M)) / k)]
    bounds = [0.0] * M + [1.0] + [0.0] * M
    active = [
        c
        for c, b in zip(constraints, bounds, strict=True)
        if abs(c @ vertices[i] - b) < 1e-9 and abs(c @ vertices[j] - b) < 1e-9
    ]
    return bool(active) and np.linalg.matrix_rank(np.array(active)) == M - 1


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: the numbers of vertices are C(m, k) + 1."""
    counts = {k: len(values[f"k = {k}"]["vertices"]) for k in KS}
    cells = {f"k = {k}": float(abs(n - comb(M, k) - 1)) for k, n in counts.items()}
    one = Tried(Reading("", source="L15 Figure 2"), cells)
    return judge([one], 0.0, "numbers of vertices are C(m, k) + 1", claims=("L15-vertices",))


def plot(study: Study) -> list[Path]:
    from mpl_toolkits.mplot3d import Axes3D  # noqa: F401 - registers the 3d projection

    values = study.values
    figure = new_figure(5.6)
    ax = figure.add_subplot(projection="3d")
    for index, (name, value) in enumerate(values.items()):
        vertices = np.array(value["vertices"])
        colour, marker, line = SERIES[index]
        for i, j in value["edges"]:
            ends = vertices[[i, j]].T
            ax.plot(*ends, color=colour, linestyle=line, marker=marker, linewidth=1.8)
        ax.text(*vertices[vertices.sum(axis=1).argmax()], f"  {name}", color=ink(colour))
        draw_top(ax, vertices, colour)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_3$")
    ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), zticks=(0, 0.5, 1))
    ax.view_init(elev=22, azim=32)
    ax.set_box_aspect(None, zoom=0.85)
    state(figure, title_of(values))
    return study.save_figure(figure, caption(values))


def title_of(values: dict[str, Any]) -> str:
    """Return how many vertices the simplices have."""
    counts = ", ".join(str(len(values[f"k = {k}"]["vertices"])) for k in KS)
    return f"Top-k simplices for k = {', '.join(map(str, KS))} have {counts} vertices"


def draw_top(ax: Any, vertices: np.ndarray, colour: str) -> None:
    """Draw the face on which the sum is 1, if it is a face."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    top = vertices[np.isclose(vertices.sum(axis=1), 1.0)]
    if len(top) == 3:
        ax.add_collection3d(Poly3DCollection([top], color=colour, alpha=0.2))


def caption(values: dict[str, Any]) -> Caption:
    counts = ", ".join(f"{len(values[f'k = {k}']['vertices'])} for k = {k}" for k in KS)
    moved = max(value["moved"] for value in values.values())
    return Caption(
        title="L15 Figure 2: the top-k simplex for m = 3",
        shows=(
            "Edges of the top-k simplex of radius 1 for k = 1, 2, 3, the face of sum 1 shaded; at "
            "k = 3 it is a segment."
        ),
        settings="radius 1, no seed.",
        agreement=(f"Vertices: {counts}. Our projection moves no vertex by more than {moved:.0e}."),
    )
