"""Four findings for the front page and the README, computed from stored records."""

from dataclasses import dataclass
from pathlib import Path

from fwlab.docs.figure_links import told
from fwlab.docs.records import Records, errors
from fwlab.text import listed

BENCHMARKS = Path(__file__).parents[2] / "figures" / "BENCHMARKS.md"
CLAIM, FIGURE, TABLES = "T20-eq2.26", "tajima2020_figure1", "printed_tables"
# what a witness on paper does not need
UNSEEN = ("m", "d", "loss", "root")


@dataclass(frozen=True)
class Discovery:
    """A finding in one paragraph, the lines that show it, and the command that computes it."""

    title: str
    text: str
    command: str
    lines: tuple[str, ...] = ()


def findings(records: Records) -> list[Discovery]:
    """Return an error, a speed beside its peer, a figure in part, and why printed tables differ."""
    return [error_in_print(records), speed(), figure(), printed_tables()]


def error_in_print(records: Records) -> Discovery:
    """Return the number of errors by severity, and one slip with its smallest witness."""
    record = records.by_id[CLAIM]
    parts = record["witness_parts"]
    given = [f"{p['name']} = {p['value']}" for p in parts if p["side"] == "given"]
    given = [one for one in given if one.split(" = ")[0] not in UNSEEN]
    seen = [part["value"] for part in parts if part["side"] == "seen"]
    sides = [f"{name}: {value}" for name, value in zip(record["sides"], seen, strict=True)]
    return Discovery(
        "An error in print",
        f"The ledger counts {errors(list(records.by_id.values()))} in five papers. One slip: the "
        "line search of Tajima et al. (T20), (2.26), divides the smoothing term by λn; "
        f"{record['where_right_at']} of the same paper does not. Two lines show it:",
        f"python -m paper_checks --id {CLAIM}",
        (", ".join(given), ", ".join(sides)),
    )


def speed() -> Discovery:
    """Return the times of `solve` and of a pass of `ascent` beside their peers'."""
    ratios: dict[str, list[float]] = {}
    for name, *_, ratio in table("linear_svc"):
        ratios.setdefault(name, []).append(float(ratio))
    faster = {name: found for name, found in ratios.items() if max(found) < 1}
    slower = {name: found for name, found in ratios.items() if name not in faster}
    other = f", and {span(slower)} times its time on {listed(slower)}" if slower else ""
    few: dict[str, list[float]] = {}
    for _, shape, *_, ratio in table("small_fits"):
        size = "up to 500 rows" if int(shape.split()[0]) <= 500 else "634 to 7494 rows"
        few.setdefault(size, []).append(float(ratio))
    sizes = ", and ".join(f"{beside_solver(found)} on {size}" for size, found in few.items())
    # the table of projections comes before the table of training, which has six columns
    beside = [row[-1] for row in table("peer") if len(row) == 6]
    fits = [float(ratio) for ratio in beside if ratio[0].isdigit()]
    (a_pass,) = [line for line in page("passes") if line.split()[:2] == ["B", "ascent"]]
    of_flops, of_product = a_pass.split()[-3:-1]
    return Discovery(
        "A speed",
        f"To the same error `solve` takes {span(faster)} of the time of scikit-learn's "
        f"Crammer-Singer solver on {listed(faster)}{other}. With few features "
        f"`TopKSVC.fit` {sizes}. On Usunier's loss `solve` takes "
        f"{min(fits):.3g} to {max(fits):.3g} of the time of the C++ code of Lapin et al. of 2016, "
        f"and less time in {sum(one < 1 for one in fits)} of {len(fits)} fits. A pass of `ascent` "
        "over a dense X of 15935 x 1024 numbers with 20 classes takes "
        f"{of_product} of the time of the one product X Wᵀ by BLAS, and {of_flops} of the time of "
        "its flops in products of square matrices.",
        "python -m figures.benchmarks linear_svc small_fits peer passes",
    )


def beside_solver(ratios: list[float]) -> str:
    """Return how the times of fits compare with those of "that solver", given their ratios."""
    low, high = f"{min(ratios):.3g}", f"{max(ratios):.3g}"
    if min(ratios) > 1:
        return f"is slower than that solver ({low} to {high} times its time)"
    return f"takes {low} to {high} of its time"


def page(name: str) -> list[str]:
    """Return the lines of a section of the stored benchmarks.

    Raises ValueError if there is no such section.
    """
    _, found, rest = BENCHMARKS.read_text("utf-8").partition(f"\n## {name}\n")
    if not found:
        raise ValueError(f"{BENCHMARKS} has no section {name}.")
    return rest.partition("\n## ")[0].splitlines()


def table(name: str) -> list[list[str]]:
    """Return the rows of a Markdown table of the stored benchmarks, without its header."""
    rows = [line.strip("| ").split(" | ") for line in page(name) if line.startswith("|")]
    return rows[2:]


def span(ratios: dict[str, list[float]]) -> str:
    """Return the smallest and the largest ratio."""
    found = [ratio for one in ratios.values() for ratio in one]
    return f"{min(found):.3g} to {max(found):.3g}"


def figure() -> Discovery:
    """Return what holds of T20 Figure 1."""
    text = told(FIGURE)["finding"]
    return Discovery("A figure that comes out in part", text, f"python -m figures {FIGURE}")


def printed_tables() -> Discovery:
    """Return what the printed tables cannot show, and what a start leaves open."""
    text = told(TABLES)["finding"]
    return Discovery("Why printed tables differ", text, f"python -m figures {TABLES}")
