"""K19 sections 1 and 7.4: what the text infers from printed accuracies.

Tables 2 to 7 have the numbers, and Tables 1 and 2 of L15.
"""

from collections.abc import Iterator
from fractions import Fraction

from figures.kato2019.printed import TABLES
from paper_checks.cases import Rng
from paper_checks.kato2019.tables import printed
from paper_checks.lapin2015.tables import DATA_SETS, PLACES_OF_K, TRAINED_K, accuracies, machine
from paper_checks.ledger import Case, Erratum, Outcome, claim, version
from paper_checks.outcomes import less, published

NOT_PROVED = "a statement about printed numbers, all of which are tried"
TABLES_K = (1, 3, 5, 10)


def advantages(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the mean printed advantage of UTk (ours) over each SDCA machine, by its k."""
    for other in ("Chu", "Lapin"):
        means = []
        for place in range(len(TABLES_K)):
            differences = [
                printed(ours) - printed(theirs)
                for table in TABLES.values()
                for ours, theirs in zip(table["ours"][place], table[other][place], strict=True)
            ]
            means.append(100 * sum(differences, Fraction()) / len(differences))
        yield Case(kind="printed", other=other, at_k_1=means[0], at_larger_k=tuple(means[1:]))


@claim(
    "K19-optimality",
    "7.4, last paragraph, last sentence",
    "The printed accuracies suggest that solutions nearer to the optimum classify better.",
    formula=r"\max_{k\in\{3,5,10\}}\Delta_k>\Delta_1",
    shapes="Delta_k: the printed accuracy of UTk (ours) with this k less that of UTk (Chu) or UTk "
    "(Lapin), in points, mean over the six data sets and the four columns of Tables 2 to 7",
    judged="By sections 7.1 and 8 the existing methods miss the optimum because their feasible "
    "region is that of the pseudo top-k hinge, which (30) says of 2 <= k < m. At k = 1 the two "
    "losses are one, so that all three methods solve one problem, and Delta_1 measures causes "
    "other than the optimum. Accuracies that show a benefit of the optimum have a larger Delta_k "
    "at some k > 1; the statement is judged by this. The sentence before, that the differences "
    "might be due to convergence, is offered as a conjecture and not judged.",
    cases=advantages,
    sides=("Delta_1, points", "the largest Delta_k with k > 1"),
    corrected=version(
        "the printed advantage is largest at k = 1, where the problems are the same",
        reverse=True,
        formula=r"\max_{k\in\{3,5,10\}}\Delta_k<\Delta_1",
    ),
    planted=(
        version("largest at k = 1 by a point", reverse=True, more=1),
        version("larger at some k > 1 by a tenth of a point", more=Fraction(1, 10)),
    ),
    not_proved=NOT_PROVED,
    erratum=Erratum(
        page="Section 7.4, last paragraph, last sentence",
        printed=r"\mathrm{accuracies\ suggest\ a\ benefit\ of\ the\ optimum}",
        correct=r"\Delta_1=1.55\ (\mathrm{Chu}),\ 1.52\ (\mathrm{Lapin});\quad "
        r"\Delta_k\leq1.02,\ 0.94\ \mathrm{for}\ k=3,5,10",
        proof="At $k=1$ the largest margin is at least that of the true class, 0, so that leaving "
        "the true class out changes nothing: the pseudo top-1 hinge is the top-1 hinge, and both "
        "existing methods reach the optimum. Yet the 24 differences in Tables 2 to 7 have the mean "
        "1.55 (Chu) and 1.52 points (Lapin) at $k=1$, against 0.88, 0.71, 1.02 and 0.94, 0.59, "
        "-0.55 at $k=3,5,10$. The advantage is largest where section 8 leaves none to explain.",
        breaks="The inference from Tables 1 to 7 to section 8, not section 8 itself. What differs "
        "at k = 1 is, by the text, the smoothing, which only the proposed machines choose; grids "
        "of C and stopping rules of the other programs are not stated.",
    ),
)
def optimality_shows(case: Case, reverse: bool = False, more: Fraction | int = 0) -> Outcome:
    first, later = case.at_k_1, max(case.at_larger_k)
    return published(less(later + more, first) if reverse else less(first + more, later))


def other_parameters(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield L15's printed top-k accuracies by the k of the loss (3): columns of five data sets."""
    columns = [
        Case(
            kind="column",
            data=name,
            k=k,
            same=accuracies(table, machine(k, "(3)"))[place],
            others=tuple(accuracies(table, machine(j, "(3)"))[place] for j in TRAINED_K if j != k),
        )
        for name, table in DATA_SETS.items()
        for k, place in PLACES_OF_K.items()
    ]
    yield Case(kind="printed by L15", columns=tuple(columns))


@claim(
    "K19-other-k",
    "1, first paragraph, last sentence but one",
    "As L15 reports, the top-k' hinge with another k' often has a smaller top-k error than the "
    "top-k hinge.",
    shapes="columns: the top-k accuracies of a data set, k = 1, 2, 3, 4, 5, 10; k' is 1, 2, 3, 4, "
    "5, 10 or 20",
    judged="by L15's Tables 1 and 2, the loss (3). Often: in more than half of the 30 columns of "
    "its five data sets some k' is better than k.",
    cases=other_parameters,
    sides=("share required", "share of the columns"),
    planted=(
        version("in all columns but one", share=Fraction(28, 30)),
        version("k itself is better than all others in more than half", reverse=True),
    ),
    not_proved=NOT_PROVED,
)
def another_is_better(
    case: Case, share: Fraction = Fraction(1, 2), reverse: bool = False
) -> Outcome:
    better = [
        (max(c.others) < c.same) if reverse else (max(c.others) > c.same) for c in case.columns
    ]
    return published(less(share, Fraction(sum(better), len(better)), columns=len(better)))
