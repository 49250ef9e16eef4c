"""Two pages with tables of the stored benchmarks: linear heads, and the estimators' defaults."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from fwlab.docs.findings import page
from fwlab.docs.markdown import table, write

# of a column of accuracies, cells that are so close to the best are bold
CLOSE = 0.005
PEER = "LogisticRegression"


def write_pages(source: Path) -> None:
    """Write heads.md and defaults.md below `source`."""
    write(source / "heads.md", "heads.md", **heads())
    tol, intercept, k = tables("defaults")
    write(
        source / "defaults.md",
        "defaults.md",
        tol=tol_table(tol[1:]),
        facts=tol_facts(tol[1:]),
        intercept=table(intercept[0], intercept[1:]),
        k=k_table(k),
    )


def tables(name: str) -> list[list[list[str]]]:
    """Return the tables of a section of the stored benchmarks: the header, then the rows."""
    found: list[list[list[str]]] = []
    inside = False
    for line in page(name):
        is_row = line.startswith("|")
        if is_row and not inside:
            found.append([])
        if is_row and not line.startswith("| ---"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        inside = is_row
    return found


Cells = dict[tuple[str, str], str]


def heads() -> dict[str, str]:
    """Return the tables of the page on heads: a row per head, a column per set."""
    ((_, *rows),) = tables("heads")
    # the columns of figures/benchmarks/heads.py
    columns = {"top1": 4, "top5": 6, "choice": 7, "fit": 8, "memory": 9}
    cells = {
        name: {(row[2], row[0]): row[column] for row in rows} for name, column in columns.items()
    }
    found = {name: pivot(one, name in ("top1", "top5")) for name, one in cells.items()}
    return {**found, "summary": summary(cells), "sets": shapes(rows)}


def pivot(cells: Cells, best: bool) -> str:
    """Return a table with a row per head and a column per set; the best ones may be bold."""
    sets = list(dict.fromkeys(one for _, one in cells))
    close = near_best(cells) if best else set()
    rows = []
    for name in names_of(cells):
        found = [(cells.get((name, one), ""), (name, one) in close) for one in sets]
        rows.append([f"`{name}`", *(f"**{text}**" if bold else text for text, bold in found)])
    return table(["", *sets], rows)


def names_of(cells: Cells) -> list[str]:
    """Return the heads, in the order of the set that has most of them."""
    by_set: dict[str, list[str]] = {}
    for name, one in cells:
        by_set.setdefault(one, []).append(name)
    return max(by_set.values(), key=len)


def near_best(cells: Cells) -> set[tuple[str, str]]:
    """Return the keys whose accuracy is within CLOSE of the best one of their set."""
    best: dict[str, float] = {}
    for (_, one), text in cells.items():
        best[one] = max(best.get(one, 0.0), float(text))
    return {key for key, text in cells.items() if float(text) >= best[key[1]] - CLOSE}


def summary(cells: dict[str, Cells]) -> str:
    """Return a table with a row per head: how often it is near the best, its time and memory."""
    near = {name: near_best(cells[name]) for name in ("top1", "top5")}
    sets = {one for _, one in cells["top1"]}
    rows = []
    for name in names_of(cells["top1"]):
        own = [one for one in sets if (name, one) in cells["top1"]]
        counts = [f"{sum((name, one) in near[top] for one in own)} of {len(own)}" for top in near]
        ratios = [
            sum(float(cells[what][name, one]) for one in own)
            / sum(float(cells[what][PEER, one]) for one in own)
            for what in ("choice", "fit")
        ]
        most = max(int(cells["memory"][name, one]) for one in own)
        rows.append([f"`{name}`", *counts, *(f"{ratio:.2g}" for ratio in ratios), f"{most} MB"])
    header = ["head", "top-1 near the best", "top-5 near the best"]
    times = [f"choice / that of {PEER}", f"fit / that of {PEER}"]
    return table([*header, *times, "most memory"], rows)


def shapes(rows: Sequence[Sequence[str]]) -> str:
    """Return the sizes of the sets in words."""
    return ", ".join(f"{name} ({size})" for name, size in {row[0]: row[1] for row in rows}.items())


def tol_table(rows: list[list[str]]) -> str:
    """Return a table with a row per set and head: seconds, accuracy and proved share per tol."""
    tols = list(dict.fromkeys(row[3] for row in rows))
    found: dict[tuple[str, str], list[str]] = {}
    for data, head, _, _, *measured in rows:
        cells = found.setdefault((data, head), [data, f"`{head}`"])
        cells.append("<br>".join(measured))
    return table(["data", "head", *tols], found.values())


def tol_facts(rows: list[list[str]]) -> str:
    """Return a table with a row per tol: medians over sets and heads, beside the smallest tol."""
    values = {(row[0], row[1], row[3]): [float(x.rstrip("*")) for x in row[4:]] for row in rows}
    cases = list(dict.fromkeys(key[:2] for key in values))
    tols = list(dict.fromkeys(key[2] for key in values))
    lines = []
    for tol in tols:
        pairs = [(values[*case, tol], values[*case, tols[-1]]) for case in cases]
        cells = [
            median(own[0] / last[0] for own, last in pairs),
            100 * max(abs(own[1] - last[1]) for own, last in pairs),
            100 * median(own[2] for own, _ in pairs),
        ]
        lines.append([tol, *(f"{cell:.2f}" for cell in cells[:2]), f"{cells[2]:.0f} %"])
    differs = "largest difference of accuracies, points"
    return table(["tol", f"seconds / those of {tols[-1]}", differs, "labels proved"], lines)


def k_table(rows: list[list[str]]) -> str:
    """Return the table of k in training, with the best k of each set and test bold."""
    header, *lines = rows
    best: dict[tuple[str, int], float] = {}
    for row in lines:
        for column, text in enumerate(row[2:], 2):
            key = row[0], column
            best[key] = max(best.get(key, 0.0), float(text))
    marked = [
        row[:2]
        + [f"**{t}**" if float(t) == best[row[0], c] else t for c, t in enumerate(row[2:], 2)]
        for row in lines
    ]
    return table(header, marked)
