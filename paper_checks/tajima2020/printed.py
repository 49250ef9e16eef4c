"""Check T20 section 3.1: statements about printed numbers, and the times of Table 2."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Experiment, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, equal, published
from paper_checks.stored_tables import number, stored_table
from paper_checks.tajima2020.experiments import NOT_PROVED, SHAPES
from paper_checks.tajima2020.runs import HIGH, LOW

SIZES = {  # n and d of the sets named in the statement
    "CUB200": (6033, 4096),
    "Flower102": (2040, 4096),
    "Indoor67": (15607, 4096),
}


def printed_sizes(rng: Rng, deep: bool, names: tuple[str, ...] = HIGH) -> Iterator[Case]:
    for name in names:
        n, d = SIZES[name]
        yield Case(kind="printed", name=name, n=n, d=d)


@claim(
    "T20-already-strong",
    "3.1",
    "The negative dual objectives for CUB200, Flower102 and Indoor67 may be strongly convex "
    "without the Moreau envelope; this needs no more samples than features.",
    formula=r"-D\ \mathrm{strongly\ convex}\ \Rightarrow\ n\leq d",
    shapes="n samples with d features each",
    judged="the paper offers it as a possible explanation; n <= d is necessary, for the rank of "
    "the Gram matrix is at most d. n is the number of images that section 3.1 gives; "
    "with half of them, as in section 3.2, only Indoor67 has too many. For Flower102 "
    "it can be true.",
    cases=printed_sizes,
    sides=("samples", "features"),
    planted=(version("n <= d/4", part=Fraction(1, 4)),),
    not_proved="a statement about printed numbers",
    hedge="may be",
)
def enough_features(case: Case, part: Fraction = Fraction(1)) -> Outcome:
    return published(at_most(Fraction(case.n), part * case.d))


@claim(
    "T20-other-four",
    "3.1",
    "Besides Caltech101 and News20 there are four data sets.",
    cases=lambda rng, deep: [Case(kind="printed", sets=(*LOW, *HIGH), named=LOW)],
    sides=("as printed", "counted"),
    derived=version("three", count=3),
    where_right=WhereRight("section 3.1: the next sentence names the other three"),
    planted=(version("two", count=2),),
    not_proved="a statement about printed numbers",
    erratum=Erratum(
        "section 3.1, on Figure 2",
        r"\mathrm{the\ other\ four\ datasets}",
        r"\mathrm{the\ other\ three\ datasets}",
        "Section 3.1 uses five data sets: Caltech101, CUB200, Flower102, Indoor67 and News20. "
        "Apart from Caltech101 and News20 there are three, and the next sentence names them. The "
        "section opens with five image data sets, of which it names four.",
        "Nothing.",
    ),
)
def other_sets(case: Case, count: int = 4) -> Outcome:
    return published(equal(Fraction(count), Fraction(len(set(case.sets) - set(case.named)))))


# --- seconds an iteration ------------------------------------------------------------------------

PRINTED_SECONDS = {  # Table 2: StdFW, LSFW
    "Caltech101": ("0.589", "0.814"),
    "CUB200": ("2.458", "3.324"),
    "Flower102": ("0.649", "0.903"),
    "Indoor67": ("2.855", "3.919"),
    "News20": ("0.436", "0.531"),
}


def measured_seconds(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield CPU seconds of an iteration on each data set of the stored table."""
    table = stored_table("tajima2020_table2")
    for line in table.lines:
        fixed, searched = number(line["StdFW"]), number(line["LSFW"])
        kind = f"{line['features']} data, {table.kind()}"
        yield Case(kind=kind, data=line["data"], fixed=fixed, searched=searched)


@claim(
    "T20-table2",
    "Table 2, 3.1",
    "An iteration with the line search takes at most 1.5 times the time of one without.",
    shapes=SHAPES,
    judged="our seconds, of a program that computes the same products with and without line "
    "search; synthetic features replace those that are not public, as the times "
    "depend only on the sizes",
    cases=measured_seconds,
    from_table=True,
    experiment=Experiment((*LOW, *HIGH)),
    planted=(version("at most 0.8 times", factor=0.8),),
    not_proved=NOT_PROVED,
)
def seconds_of_the_line_search(case: Case, factor: float = 1.5) -> Outcome:
    return at_most(case.searched / case.fixed, factor)


@claim(
    "T20-table2-text",
    "Table 2, 3.1",
    "In Table 2 as printed, no time with the line search is more than 1.5 times the time without.",
    judged="The printed seconds alone; the experiment is T20-table2.",
    cases=lambda rng, deep: (
        Case(kind="printed", name=name, fixed=Fraction(fixed), searched=Fraction(searched))
        for name, (fixed, searched) in PRINTED_SECONDS.items()
    ),
    planted=(version("at most 1.2 times", factor=Fraction(6, 5)),),
    not_proved="a statement about printed numbers",
)
def printed_ratio(case: Case, factor: Fraction = Fraction(3, 2)) -> Outcome:
    return published(at_most(case.searched, factor * case.fixed))
