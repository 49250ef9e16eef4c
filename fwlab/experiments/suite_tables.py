"""The tables of a suite: a line for each method, a line for each problem, and LaTeX."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fwlab.experiments.profiles import COSTS, GAPS, Profiles
from fwlab.experiments.proved_rates import Share
from fwlab.experiments.summary import escaped

SHORT = {"calls": "calls", "cpu": "CPU"}
Table = tuple[list[str], list[list[str]]]


def gap_name(gap: float) -> str:
    """Return a power of ten as 1e-2."""
    return f"1e{round(np.log10(gap))}"


def method_rows(profiles: Profiles) -> list[dict[str, Any]]:
    """Return a dict for each method, the best one first: `SuiteReport.rows` says what is in it."""
    scores = {kind: profiles.score(kind) for kind in COSTS}
    rows = []
    for method in profiles.ranking():
        j = profiles.methods.index(method)
        row: dict[str, Any] = {"method": method}
        row |= {f"score_{kind}": float(scores[kind][j]) for kind in COSTS}
        for gap in GAPS:
            row[f"solved_{gap_name(gap)}"] = float(profiles.solved(gap)[j])
            for kind in COSTS:
                row[f"twice_{kind}_{gap_name(gap)}"] = float(profiles.within(kind, gap, 2.0)[j])
        rows.append(row)
    return rows


def method_table(profiles: Profiles) -> Table:
    """Return the header and the lines of the methods, the best one first."""
    header = ["method", *(f"score, {SHORT[kind]}" for kind in COSTS)]
    for gap in GAPS:
        header += [f"solved to {gap_name(gap)}"]
        header += [f"within 2 times, {SHORT[kind]}" for kind in COSTS]
    lines = []
    for row in method_rows(profiles):
        method, *numbers = row.values()
        shown = [f"{score:.2f}" for score in numbers[: len(COSTS)]]
        lines.append([method, *shown, *(f"{share:.0%}" for share in numbers[len(COSTS) :])])
    return header, lines


def problem_table(profiles: Profiles, method: str) -> Table:
    """Return a line for each problem, those on which the method is furthest ahead first.

    It has the factors of `Profiles.factors` by calls and by CPU seconds for each gap, and the
    smallest certified relative gaps of this method and of the best other one.
    """
    kinds = [(kind, gap) for gap in GAPS for kind in COSTS]
    factors = np.column_stack([profiles.factors(kind, gap, method) for kind, gap in kinds])
    mine = profiles.methods.index(method)
    own, others = profiles.gaps[:, mine], np.delete(profiles.gaps, mine, axis=1)
    header = ["problem", *(f"{gap_name(gap)}, {SHORT[kind]}" for kind, gap in kinds)]
    header += ["certified gap", "best other gap"]
    lines = []
    for i in sorted(range(len(own)), key=lambda i: -_standing(factors[i])):
        gaps = [own[i], others[i].min(initial=np.inf)]
        shown = [factor_text(factor) for factor in factors[i]]
        lines.append([profiles.problems[i], *shown, *(f"{gap:.1e}" for gap in gaps)])
    return header, lines


def _standing(factors: np.ndarray) -> float:
    """Return the mean logarithm of the factors within 1/1000 .. 1000; nan counts as 1."""
    known = np.where(np.isnan(factors), 1.0, np.clip(factors, 1e-3, 1e3))
    return float(np.log(known).mean())


def factor_text(factor: float) -> str:
    """Return a factor of `Profiles.factors` as text."""
    if np.isnan(factor):
        return "-"
    if factor == 0:
        return "not solved"
    return "alone" if np.isinf(factor) else f"{factor:.2f}"


def duel_table(profiles: Profiles, method: str) -> Table:
    """Return a line for each other method: on how many problems this one has the smaller cost.

    In brackets is the median factor over the problems that both solved.
    """
    kinds = [(kind, gap) for gap in GAPS for kind in COSTS]
    header = ["ahead of", *(f"{gap_name(gap)}, {SHORT[kind]}" for kind, gap in kinds)]
    others = [other for other in profiles.methods if other != method]
    lines = []
    for other in others:
        found = [profiles.between(kind, gap, method, other) for kind, gap in kinds]
        lines.append([other, *map(_duel, found)])
    return header, lines


def _duel(factors: np.ndarray) -> str:
    both = factors[np.isfinite(factors) & (factors > 0)]
    by = f" ({np.median(both):.2f})" if len(both) else ""
    return f"{np.sum(factors > 1)} of {len(factors)}{by}"


def wins(profiles: Profiles, method: str) -> list[str]:
    """Return for each gap a sentence: on how many problems the method is ahead of all others."""
    n, told = len(profiles.problems), []
    for gap in GAPS:
        parts = []
        for kind, name in COSTS.items():
            factors = profiles.factors(kind, gap, method)
            alone = f", {count} of them alone" if (count := int(np.isinf(factors).sum())) else ""
            parts.append(f"by {name} on {np.sum(factors > 1)} of {n}{alone}")
        told.append(f"To a gap of {gap_name(gap)} it is ahead of all others {', '.join(parts)}.")
    return told


def share_lines(shares: Mapping[str, Sequence[Share]]) -> list[list[str]]:
    """Return a line for each problem: the part of its bound that each method used, and where."""
    by_problem: dict[str, dict[str, str]] = {}
    for method, found in shares.items():
        for share in found:
            defect = " DEFECT" if share.is_defect else ""
            text = f"{share.most:.2g} at t = {share.iteration}{defect}"
            by_problem.setdefault(share.problem, {})[method] = text
    return [
        [problem, *(texts.get(method, "-") for method in shares)]
        for problem, texts in by_problem.items()
    ]


def latex_of(profiles: Profiles, version: int, size: str) -> str:
    """Return the table of the methods for LaTeX with the package booktabs."""
    n = len(profiles.problems)
    n_kinds = len(COSTS)
    spans = [f"\\multicolumn{{{n_kinds}}}{{c}}{{score}}"]
    spans += [f"\\multicolumn{{{n_kinds + 1}}}{{c}}{{gap {gap_name(gap)}}}" for gap in GAPS]
    kinds = list(SHORT.values())
    header = ["method", *kinds, *(["solved", *kinds] * len(GAPS))]
    lines = [header, *method_table(profiles)[1]]
    rows = [" & ".join(map(escaped, line)) + r" \\" for line in lines]
    return "\n".join(
        [
            f"% fwlab suite, version {version}, size {size}, {n} problems",
            "% by gap: the shares solved, and within 2 times the least calls and CPU seconds",
            "% needs \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            "\\toprule",
            " & ".join(["", *spans]) + r" \\",
            rows[0],
            "\\midrule",
            *rows[1:],
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )
