"""Check M20 section 4.4: the text about Tables 3 and 4, against the numbers printed in them."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, less, published, truth

PRINTED = "A statement about printed numbers."
LOOPS = 20_000
FASHION = "Fashion-MNIST"
METHODS = ("TopPush", "TopPushK", "Pat&Mat")
# training samples (Table 2), milliseconds of a loop for the three methods (Table 4)
TABLE_4 = {
    "Ionosphere": (176, ("0.04", "0.03", "0.03")),
    "Spambase": (2301, ("0.56", "0.49", "0.50")),
    "WhiteWineQuality": (2449, ("0.62", "0.53", "0.54")),
    "RedWineQuality": (800, ("0.17", "0.14", "0.15")),
    FASHION: (50_000, ("17.16", "15.95", "15.54")),
}
HALF_UNIT = Fraction(5, 1000)  # of the last digit of a time


def times(only: Iterable[str] = TABLE_4) -> list[Case]:
    """Return the printed times of a loop in milliseconds, by method, of some data sets."""
    names = list(only)
    return [
        Case(
            kind=method,
            sets=tuple(names),
            n=tuple(TABLE_4[name][0] for name in names),
            ms=tuple(Fraction(TABLE_4[name][1][i]) for name in names),
        )
        for i, method in enumerate(METHODS)
    ]


@claim(
    "M20-table4-below-1ms",
    "4.4, Table 4",
    "For most of the data sets the time of a repeat loop is below one millisecond.",
    cases=lambda rng, deep: times(),
    judged="most: more than half of the five.",
    planted=(version("for all of them", share=1),),
    not_proved=PRINTED,
)
def below_a_millisecond(case: Case, share: Fraction | int = Fraction(1, 2)) -> Outcome:
    below = sum(x < 1 for x in case.ms)
    enough = below >= share * len(case.ms) if share == 1 else below > share * len(case.ms)
    return published(truth(enough, below=below))


@claim(
    "M20-table4-20ms",
    "Abstract, Table 4",
    "One iteration takes less than 20 milliseconds on FashionMNIST.",
    cases=lambda rng, deep: times([FASHION]),
    planted=(version("less than 16", most=16),),
    not_proved=PRINTED,
)
def below_20_milliseconds(case: Case, most: int = 20) -> Outcome:
    return published(less(case.ms[0], most))


@claim(
    "M20-table4-seconds",
    "4.4, Table 4",
    "On the smaller data sets one method with one setting (20000 loops) takes a few seconds.",
    cases=lambda rng, deep: times(name for name in TABLE_4 if name != FASHION),
    judged="a few seconds: at most 15.",
    planted=(version("at most five seconds", most=5),),
    not_proved=PRINTED,
)
def a_few_seconds(case: Case, most: int = 15) -> Outcome:
    return published(at_most(LOOPS * max(case.ms) / 1000, most))


@claim(
    "M20-table4-minutes",
    "4.4, Table 4",
    "On FashionMNIST one method with one setting (20000 loops) takes about 7 minutes.",
    formula=r"20000\cdot 17.16\,\mathrm{ms}=5.7\,\mathrm{min}",
    cases=lambda rng, deep: times([FASHION]),
    judged="about: within a tenth, for the loops alone. The same paragraph says that the "
    "kernel matrix is read from the disk, which also takes time. The loops take 5.2 "
    "to 5.7 minutes.",
    planted=(
        version("about four minutes", minutes=4),
        version("about five and a half minutes to 1 %", minutes=Fraction(11, 2), share=1),
    ),
    sides=("difference in minutes", "a tenth"),
    not_proved=PRINTED,
    hedge="approximately",
)
def some_minutes(case: Case, minutes: Fraction | int = 7, share: int = 10) -> Outcome:
    taken = LOOPS * case.ms[0] / 60_000
    return published(at_most(abs(taken - minutes), minutes * Fraction(share, 100), minutes=taken))


@claim(
    "M20-table4-candidate",
    "4.4, Table 4",
    "A candidate step takes between 1.7e-7 and 3.1e-7 seconds on every data set.",
    cases=lambda rng, deep: times(),
    judged="A loop tries n candidates, so the printed time of a loop must be at least n "
    "times 1.7e-7 seconds, up to the last printed digit.",
    planted=(version("between 2.5e-7 and 3.1e-7", least=Fraction(25, 10)),),
    not_proved=PRINTED,
)
def candidates_fit(case: Case, least: Fraction = Fraction(17, 10)) -> Outcome:
    """Compare the times in units of 1e-7 seconds."""
    pairs = zip(case.n, case.ms, strict=True)
    fits = [at_most(least * n, (ms + HALF_UNIT) * 10_000, n=n) for n, ms in pairs]
    return published(both(*fits))


@claim(
    "M20-table4-linear",
    "Tables 1 and 4",
    "The printed time of a repeat loop grows linearly with the number of samples.",
    cases=lambda rng, deep: times(),
    judged="The least squares slope of log time against log n is within 0.25 of 1.",
    planted=(version("with the square of n", power=2.0), version("with its root", power=0.5)),
    not_proved=PRINTED,
)
def grows_linearly(case: Case, power: float = 1.0) -> Outcome:
    n, ms = (np.log(np.array(x, float)) for x in (case.n, case.ms))
    slope = float(np.polyfit(n, ms, 1)[0])
    return published(at_most(abs(slope - power), 0.25, slope=slope))


# ---------------------------------------------------------------- Table 3

# precision in per cent at recall 0.05, 0.1, 0.2, 0.4, 0.6, 0.8
LINEAR = {
    "TopPush": "79.83 64.27 65.55 61.85 57.89 51.83",
    "TopPushK, K = 5": "73.96 65.41 64.82 60.28 56.94 50.52",
    "TopPushK, K = 10": "60.63 61.97 59.69 56.89 54.40 49.83",
    "Pat&Mat, tau = 0.01": "63.67 60.30 58.74 57.75 53.32 48.42",
    "Pat&Mat, tau = 0.05": "54.05 60.91 63.32 55.24 52.55 48.30",
    "Pat&Mat, tau = 0.1": "57.02 61.24 62.49 63.11 59.91 52.14",
}
GAUSSIAN = {
    "TopPush": "97.50 86.06 81.28 76.15 71.13 60.17",
    "TopPushK, K = 5": "92.50 87.56 85.31 78.47 70.77 57.10",
    "TopPushK, K = 10": "89.50 87.56 83.15 79.09 71.88 59.27",
    "Pat&Mat, tau = 0.01": "89.65 89.11 86.75 80.77 75.44 65.95",
    "Pat&Mat, tau = 0.05": "80.77 81.28 85.74 82.92 74.91 65.04",
    "Pat&Mat, tau = 0.1": "81.30 84.14 82.58 83.12 77.82 66.50",
}


def precisions(line: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, line.split()))


@claim(
    "M20-table3-printed-gauss",
    "4.4, Table 3",
    "In the printed Table 3 every method has a higher precision with the Gaussian kernel than with "
    "the linear one, at every recall.",
    cases=lambda rng, deep: [
        Case(kind=name, linear=precisions(LINEAR[name]), gauss=precisions(GAUSSIAN[name]))
        for name in LINEAR
    ],
    planted=(version("higher by 20 per cent", more=20),),
    not_proved=PRINTED,
)
def printed_gaussian_is_better(case: Case, more: int = 0) -> Outcome:
    pairs = zip(case.linear, case.gauss, strict=True)
    return published(both(*(less(a + more, b) for a, b in pairs)))


def printed_families() -> list[Case]:
    """Return the best precision of TopPush with TopPushK, and of Pat&Mat, by recall."""
    cases = []
    for kernel, table in (("linear", LINEAR), ("Gaussian", GAUSSIAN)):
        rows = {name: precisions(line) for name, line in table.items()}
        best = {
            family: tuple(
                map(max, zip(*(row for name, row in rows.items() if family in name), strict=True))
            )
            for family in ("TopPush", "Pat&Mat")
        }
        cases.append(Case(kind=kernel, push=best["TopPush"], patmat=best["Pat&Mat"]))
    return cases


@claim(
    "M20-table3-printed-recall",
    "4.4, Table 3",
    "In the printed Table 3 TopPush or TopPushK has the highest precision at the smallest recall, "
    "and Pat&Mat at the largest, with both kernels.",
    cases=lambda rng, deep: printed_families(),
    planted=(version("TopPush or TopPushK at the second smallest recall, too", small=1),),
    not_proved=PRINTED,
)
def printed_families_lead(case: Case, small: int = 0) -> Outcome:
    return published(
        both(less(case.patmat[small], case.push[small]), less(case.push[-1], case.patmat[-1]))
    )
