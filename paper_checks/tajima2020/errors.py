"""Check T20 sections 3.1 and 3.2: the text's statements about Tables 1 and 2 as printed."""

from collections.abc import Iterator
from fractions import Fraction

from figures.tajima2020.printed import KS, TABLE_1
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import less, published
from paper_checks.tajima2020.printed import PRINTED_SECONDS

NOT_PROVED = "a statement about printed numbers, all of which are tried"
REPETITIONS = 20
OTHERS = ("PG", "StdFW")
# above the 97.5 % point of Student's t with 19 or more degrees of freedom, which is at most 2.094
SIGNIFICANT = Fraction(21, 10)

Entry = tuple[Fraction, Fraction]


def thousandths(number: float) -> Fraction:
    """Return a printed number, three decimals, as a fraction."""
    return Fraction(round(1000 * number), 1000)


def columns(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the printed mean and deviation of each method, by data set and k."""
    for data, table in TABLE_1.items():
        for place, k in enumerate(KS):
            entries = {m: tuple(map(thousandths, table[m][place])) for m in table}
            yield Case(kind="printed", data=data, k=k, **entries)


@claim(
    "T20-smallest-error",
    "3.2, sentence after the explanation of the underlined figures",
    "On all data sets the line search Frank-Wolfe method has the smallest top-k error.",
    shapes="mean and deviation over 20 repetitions; k = 1, 3, 5, 10 on five data sets",
    judged="by the printed means of Table 1, all 20 of them; smallest excludes ties.",
    cases=columns,
    sides=("its error", "the smaller of the other two"),
    planted=(
        version("by 0.005", by=Fraction(5, 1000)),
        version("the projected subgradient method has", best="PG"),
    ),
    not_proved=NOT_PROVED,
)
def smallest_error(case: Case, by: Fraction = Fraction(0), best: str = "LSFW") -> Outcome:
    entries = vars(case)
    rest = min(entries[m][0] for m in ("LSFW", *OTHERS) if m != best)
    return published(less(entries[best][0] + by, rest))


def whole_table(rng: Rng, deep: bool) -> Iterator[Case]:
    yield Case(kind="printed", columns=tuple(columns(rng, deep)))


def significant(ours: Entry, other: Entry, t: Fraction) -> bool:
    """Return whether Welch's statistic for two means of 20 repetitions is above t."""
    difference = other[0] - ours[0]
    squares = (ours[1] ** 2 + other[1] ** 2) / REPETITIONS
    return difference > 0 and difference**2 > t**2 * squares


@claim(
    "T20-most-significant",
    "3.2, last sentence but one",
    "Most error ratios of the line search Frank-Wolfe method are significantly "
    "smaller than those of the other two methods.",
    formula=r"\frac{\bar e-\bar e_{LSFW}}{\sqrt{(s^2+s_{LSFW}^2)/20}}>2.1",
    shapes="mean and deviation of each of the 20 columns of Table 1",
    judged="from the printed means and deviations alone, as of 20 independent repetitions: "
    "Welch's statistic is above 2.1, which exceeds the 97.5 % point for 19 or more "
    "degrees of freedom. The text names a one-sample t-test but not its sample. An "
    "error ratio counts if "
    "it is significantly smaller than both others; most: more than half. This holds "
    "in 16 of 20 columns, and in 33 of the 40 single comparisons; the other seven "
    "are Caltech101 top-1 with "
    "both methods, Flower102 top-3 and top-5 with both, and Flower102 top-10 with StdFW.",
    cases=whole_table,
    sides=("share required", "share of the columns"),
    planted=(
        version("in nine of ten columns", share=Fraction(9, 10)),
        version("at ten standard errors", t=Fraction(10)),
    ),
    not_proved=NOT_PROVED,
)
def most_are_significant(
    case: Case, share: Fraction = Fraction(1, 2), t: Fraction = SIGNIFICANT
) -> Outcome:
    found = [
        all(significant(column.LSFW, vars(column)[other], t) for other in OTHERS)
        for column in case.columns
    ]
    return published(less(share, Fraction(sum(found), len(found)), columns=len(found)))


@claim(
    "T20-table2-more",
    "3.1, paragraph on Table 2, second sentence after the table's",
    "An iteration with the line search takes longer than one with the steps 2/(t+1).",
    shapes="seconds an iteration",
    judged="by the printed seconds of Table 2, on all five data sets.",
    cases=lambda rng, deep: (
        Case(kind="printed", name=name, fixed=Fraction(fixed), searched=Fraction(searched))
        for name, (fixed, searched) in PRINTED_SECONDS.items()
    ),
    planted=(version("by at least a third of its time", factor=Fraction(4, 3)),),
    not_proved=NOT_PROVED,
)
def takes_longer(case: Case, factor: Fraction = Fraction(1)) -> Outcome:
    return published(less(factor * case.fixed, case.searched))
