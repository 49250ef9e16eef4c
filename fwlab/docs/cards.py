"""Cards of the examples: a small drawing of stored results, the title and one line of words."""

import json
import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from fwlab.docs import drawings
from fwlab.docs.drawings import Points
from fwlab.docs.figure_links import INDEX
from fwlab.docs.findings import table
from fwlab.docs.records import Records

EXAMPLES = Path(__file__).parent / "examples"
TITLE = re.compile(r'^r?"""\n(.+)\n=+\n')
# the cards of the front page
FRONT = ("plot_02_compare", "plot_06_linear_probe", "plot_12_own_claim")
# for each example: what its drawing shows
WORDS = {
    "plot_01_own_csv": "Numbers and any labels: the last column, or the one named label.",
    "plot_02_compare": "The certified gap of three methods on digits.",
    "plot_03_step_rules": "The error on digits with two open-loop steps, 2/(t+1) and 4/(t+3).",
    "plot_04_rate": "The proved error of any problem, and that of a real one, over C.",
    "plot_05_true_and_pseudo": "The domain of the top-2 loss for three classes, and SDCA's.",
    "plot_06_linear_probe": "On letter: between which bounds the optimum's accuracy is proved.",
    "plot_07_grid_search": "Seconds of GridSearchCV over five C on digits, and standardised.",
    "plot_08_certificate": "Both objectives on digits: the optimum lies between them.",
    "plot_09_ranking": "Scores of negatives and positives of a ranking machine.",
    "plot_10_lp_norm": "Bounds on the risk for 100 classes, over p.",
    "plot_11_own_loss": "Three methods take any loss; their gaps on digits, for top-3.",
    "plot_12_own_claim": "Try a statement with code of yours; here, the ledger's verdicts.",
    "plot_13_proved_choice": "The validation accuracy of News20 over C.",
}


def drawing(name: str, records: Records) -> str:
    """Return the drawing of an example as SVG."""
    return {
        "plot_01_own_csv": lambda: drawings.rows(flowers()),
        "plot_02_compare": lambda: gaps("fw", "bcfw", "ascent"),
        "plot_03_step_rules": lambda: drawings.curves(steps(), "steps t", "error"),
        "plot_04_rate": lambda: drawings.curves(rate(), "steps t", "error / C"),
        "plot_05_true_and_pseudo": lambda: drawings.shapes(domains()),
        "plot_06_linear_probe": lambda: drawings.curves(proved(), "1 / gap", "accuracy", "x"),
        "plot_07_grid_search": lambda: drawings.bars(seconds(), " s"),
        "plot_08_certificate": lambda: drawings.curves(objectives(), "pass", "objective", "x"),
        "plot_09_ranking": lambda: drawings.curves(densities(), "score", "density", ""),
        "plot_10_lp_norm": lambda: drawings.curves(bounds(), "p", "risk, bound", "y"),
        "plot_11_own_loss": lambda: gaps("fw", "pfw", "subgradient"),
        "plot_12_own_claim": lambda: drawings.bars(verdicts(records)),
        "plot_13_proved_choice": lambda: drawings.curves(choice(), "C", "accuracy", "x"),
    }[name]()


def cards(names: list[str], records: Records, folder: str = "") -> str:
    """Return the cards of examples as HTML. folder: leads from the page to the examples."""
    return "\n".join(
        [
            '<div class="cards">',
            *(
                f'<a class="card" href="{folder}{name}.html">{drawing(name, records)}'
                f"<strong>{escape(title(name))}</strong><span>{escape(WORDS[name])}</span></a>"
                for name in names
            ),
            "</div>",
        ]
    )


def names() -> list[str]:
    """Return the names of all examples, in their order."""
    return sorted(path.stem for path in EXAMPLES.glob("plot_*.py"))


def title(name: str) -> str:
    """Return the title of an example. Raises ValueError if its file begins otherwise."""
    found = TITLE.match((EXAMPLES / f"{name}.py").read_text("utf-8"))
    if found is None:
        raise ValueError(f"{name}.py does not begin with a title in its docstring.")
    return found[1]


def write(source: Path, records: Records) -> None:
    """Write the cards of all examples below `source`, where the site's settings find them."""
    (source / "cards.html").write_text(cards(names(), records), "utf-8")


def values(name: str) -> dict[str, Any]:
    """Return the stored values of a figure."""
    path = INDEX.parent / "standard" / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))["values"]
    return found


def pairs(one: dict[str, Any], x: str, y: str) -> Points:
    """Return the points of two stored columns."""
    return list(zip(one[x], one[y], strict=True))


def flowers() -> list[list[str]]:
    """Return a header and three rows of the table of the first example."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    chosen = [(iris.data[i], iris.target_names[iris.target[i]]) for i in (0, 50, 100)]
    return [["a", "b", "c", "d", "label"], *([*map(str, x), str(y)] for x, y in chosen)]


def gaps(*methods: str) -> str:
    """Return the certified gaps of methods on digits against seconds."""
    found = values("certified_gaps")
    named = {one: smallest(pairs(found[f"digits|{one}"], "seconds", "gap")) for one in methods}
    return drawings.curves(named, "seconds", "gap")


def smallest(points: Points) -> Points:
    """Return the points after the start, each with the smallest value so far."""
    low, found = points[1][1], []
    for x, y in points[1:]:
        low = min(low, y)
        found.append((x, low))
    return found


def steps() -> dict[str, Points]:
    found = values("worst_case")["digits|0"]
    return {f"{k}/(t+{k - 1})": pairs(found[f"ell = {k}"], "t", "error") for k in (2, 4)}


def rate() -> dict[str, Points]:
    found = values("worst_case")
    measured = pairs(found["digits|0"]["ell = 2"], "t", "error")
    proved = pairs(found["ell = 2"], "t", "proved")
    return {"proved": proved, "digits": [p for p in measured if p[0] <= proved[-1][0]]}


def domains() -> dict[str, Points]:
    found = values("kato2019_figure1")["domains"]
    return {"top-2": found["true"], "pseudo": found["pseudo"]}


def proved() -> dict[str, Points]:
    found = values("proved_labels")["letter"]
    sides = {"at most": 1, "at least": 0}
    return {
        name: [
            (1 / gap, one[side]) for gap, one in zip(found["gap"], found["interval"], strict=True)
        ]
        for name, side in sides.items()
    }


def seconds() -> dict[str, float]:
    short = {"TopKSVC": "top-k", "LogisticRegression": "logistic"}
    marks = {"as they are": "", "standardised": ", std"}
    return {f"{short[row[1]]}{marks[row[0]]}": float(row[2]) for row in table("grid_search")}


def objectives() -> dict[str, Points]:
    found = values("certified_gaps")["digits|ascent"]
    return {side: pairs(found, "iteration", side)[2:30] for side in ("primal", "dual")}


def densities() -> dict[str, Points]:
    found = values("macha2020_figure2")["Fashion-MNIST|raw|TopPush|rbf 0.01|C 1"]["density"]
    return {f"{one}s": pairs(found, "score", one) for one in ("negative", "positive")}


def bounds() -> dict[str, Points]:
    found = values("lei2015_corollary8")
    cells = {float(c.split("= ")[-1]): v for c, v in found.items() if c.startswith("c = 100,")}
    lines = {"Remark 6": "remark_6", "Corollary 8": "corollary_8", "measured": "risk"}
    return {name: [(p, cells[p][key]) for p in sorted(cells)] for name, key in lines.items()}


def verdicts(records: Records) -> dict[str, float]:
    """Return the number of claims of the five most frequent verdicts."""
    found = Counter(record["verdict"] for record in records.by_id.values())
    return dict(found.most_common(5))


def choice() -> dict[str, Points]:
    found = values("lei2015_table2")["News 20, p = 2, repetition 0, fold 0"]
    return {"News20": [(one["C"], one["accuracy"][0]) for one in found]}
