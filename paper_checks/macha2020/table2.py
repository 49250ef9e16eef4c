"""Check M20 section 4.3: the sizes and the shares of positives printed in Table 2."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from figures.macha2020.printed import TABLE_2
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, published, truth

PRINTED = "A statement about printed numbers, all of which are tried."
# samples and positives of the whole sets, as their sources state them
WHOLE = {
    "Ionosphere": (351, 225),
    "Spambase": (4601, 1813),
    "WhiteWineQuality": (4898, 1060),
    "RedWineQuality": (1599, 217),
    "Fashion-MNIST": (70_000, 7_000),
}
PARTS = ("training", "validation", "testing")
WITH_A_TEST_PART = "Fashion-MNIST"


def parts(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield each data set with the printed samples and positives, per cent, of its three parts."""
    for name, (_, *entries) in TABLE_2.items():
        samples = tuple(int(n) for n, _ in entries)
        shares = tuple(Fraction(round(10 * share), 10) for _, share in entries)
        total, positives = WHOLE[name]
        found = {"samples": samples, "shares": shares, "total": total, "positives": positives}
        yield Case(kind="printed", data=name, **found)


@claim(
    "M20-table2-parts",
    "4.3, second and third sentences; Table 2",
    "Sets without a testing part are divided into 50 % for training, 25 % for validation and 25 % "
    "for testing; for the others the validation part is as large as the testing part.",
    shapes="samples: training, validation, testing; total: of the whole set",
    judged="by the printed sizes: each is within one sample of its share, and together they are "
    "the whole set. Fashion-MNIST has a testing part.",
    cases=parts,
    planted=(
        version("60, 20 and 20 %", shares=(Fraction(3, 5), Fraction(1, 5), Fraction(1, 5))),
        version("to a quarter of a sample", within=Fraction(1, 4)),
    ),
    not_proved=PRINTED,
)
def parts_as_stated(
    case: Case,
    shares: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
    within: Fraction = Fraction(1),
) -> Outcome:
    whole = equal(sum(case.samples), case.total)
    if case.data == WITH_A_TEST_PART:
        return published(both(whole, equal(case.samples[1], case.samples[2])))
    off = (abs(n - share * case.total) for n, share in zip(case.samples, shares, strict=True))
    return published(both(whole, *(at_most(o, within) for o in off)))


@claim(
    "M20-table2-positives",
    "4.3, Table 2",
    "The shares of positives that Table 2 prints are those of its data sets with the labels y+ as "
    "the positive class.",
    shapes="shares: per cent of training, validation and testing; positives: of the whole set",
    judged="there are whole numbers of positives in the three parts that round to the printed "
    "shares and sum to the positives of the data set; y+ is 7, 8, 9 and 7, 8 for the wines and "
    "the label 0 for Fashion-MNIST. The numbers of positives of the whole sets are "
    "taken from their sources.",
    cases=parts,
    planted=(
        version("of sets with one per cent more positives", factor=Fraction(101, 100)),
        version("of sets with the other class as the positive one", other=True),
    ),
    not_proved=PRINTED,
)
def shares_as_printed(case: Case, factor: Fraction = Fraction(1), other: bool = False) -> Outcome:
    """Compare the total with the least and the largest that the printed shares allow."""
    wanted = case.total - case.positives if other else round(factor * case.positives)
    ranges = [counts(n, share) for n, share in zip(case.samples, case.shares, strict=True)]
    least, largest = (sum(side) for side in zip(*ranges, strict=True))
    return published(truth(least <= wanted <= largest, least=least, largest=largest))


def counts(n: int, share: Fraction) -> tuple[int, int]:
    """Return the least and the largest count of n whose share rounds to the printed one."""
    unit = Fraction(1, 20)  # half of the last digit printed
    return ceil(n * (share - unit) / 100), floor(n * (share + unit) / 100)
