"""Check M20 section 4.4: the text about Tables 3 and 4, on tables that figures/ has made."""

from collections.abc import Iterator

import numpy as np

from figures.kit.exponents import line
from figures.macha2020.table3 import deviation
from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Experiment, Outcome, Untestable, claim, version
from paper_checks.outcomes import at_most, effect
from paper_checks.stored_tables import StoredTable, number, stored_table
from paper_checks.trials import Tier

SETS = "the data sets of Table 2"
ON_SETS = Experiment(data=(SETS,))
MEASURED = "An experiment on real data."
OBJECTIVES = ("TopPush", "TopPushK", "Pat&Mat")
NOT_STORED = "fashion_mnist"  # its kernel is not stored: every loop computes two columns


def measured_loops(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the times of loops, by data set.

    They are milliseconds per loop against n if the kernel matrix is stored, and the same with the
    milliseconds of the candidates of the set whose matrix is not.
    """
    table = stored_table("macha2020_table4")
    for objective in OBJECTIVES:
        lines = table.matching(objective=objective)
        stored = [line for line in lines if line["data"] != NOT_STORED]
        if len(stored) < 2:
            raise Untestable(f"the stored table {table.name} has fewer than two sizes")
        sizes = tuple(number(line["n"]) for line in stored)
        times = tuple(number(line["ms a loop"]) for line in stored)
        case = Case(kind=f"a loop, {table.kind()}", data=SETS, name=objective, n=sizes, ms=times)
        yield case
        others = [line for line in lines if line["data"] == NOT_STORED]
        more = {number(x["n"]): 1e3 * number(x["s a candidate"]) * number(x["n"]) for x in others}
        yield changed(case, kind=f"a candidate, {table.kind()}", others=more)


@claim(
    "M20-table4",
    "Table 4",
    "A repeat loop takes O(n), Table 1, and a candidate step almost the same time on every data "
    "set, independent of its size, section 4.4.",
    judged="The time of a loop is fitted as a + b n, on the sets whose kernel matrix is stored, "
    "where a, the part that does not grow, and b are at least 0. The slope of the logarithm of "
    "(time - a)/n against log n is at most 0.25 for O(n), and within 0.25 of 0 for a candidate, "
    "where the set whose matrix is not stored counts, too.",
    cases=measured_loops,
    from_table=True,
    experiment=ON_SETS,
    not_proved=MEASURED,
    planted=(
        version("a loop takes O(sqrt(n))", power=0.5),
        version("a candidate takes the same time to 1 %", factor=1.01),
    ),
)
def times_of_a_loop(case: Case, power: float = 1.0, factor: float | None = None) -> Outcome:
    """Compare what is above the constant part, per sample; a bound is not broken from below."""
    a = line(case.n, case.ms).constant
    of_candidates = "others" in vars(case)
    times = {n: ms - a for n, ms in zip(case.n, case.ms, strict=True)}
    times |= case.others if of_candidates else {}
    shares = {n: ms / n**power for n, ms in sorted(times.items()) if ms > 0}
    if factor is not None:
        return at_most(max(shares.values()) / min(shares.values()), factor)
    slope = float(np.polyfit(np.log([*shares]), np.log([*shares.values()]), 1)[0])
    grown = abs(slope) if of_candidates else slope
    return at_most(grown, 0.25, slope=slope, a=a, ms_per_sample=shares)


PUSH = ("TopPush", "TopPushK, K = 5", "TopPushK, K = 10")
PATMAT = ("Pat&Mat, tau = 0.01", "Pat&Mat, tau = 0.05", "Pat&Mat, tau = 0.1")
RECALLS = ("0.05", "0.1", "0.2", "0.4", "0.6", "0.8")
INTERVAL = 1.96  # an interval of this many deviations on both sides has 95 per cent
ONE_CUT = (
    "With a 95% interval from the binomial deviation of each precision, as each set "
    "is split once; an interval that contains 0 decides nothing."
)


def precisions(table: StoredTable, features: str, kernel: str, machine: str) -> np.ndarray:
    """Return mean test precisions over the data sets at RECALLS, per cent."""
    line = table.line(features=features, kernel=kernel, machine=machine)
    return np.array([number(line[f"recall {recall}"]) for recall in RECALLS])


def kernels_compared(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield each machine with both kernels, on raw and on standardised features."""
    table = stored_table("macha2020_table3")
    for features in ("raw", "standardised"):
        for machine in (*PUSH, *PATMAT):
            linear, gauss = (precisions(table, features, k, machine) for k in ("linear", "rbf"))
            kind = f"{features}, {table.kind()}"
            yield Case(kind=kind, data=SETS, machine=machine, linear=linear, gauss=gauss)


@claim(
    "M20-table3-gauss",
    "4.4, Table 3",
    "Every method has a higher precision with the Gaussian kernel than with the linear one.",
    judged="the mean over the six recalls, of the means over our data sets. " + ONE_CUT,
    cases=kernels_compared,
    from_table=True,
    experiment=ON_SETS,
    not_proved=MEASURED,
    planted=(version("higher by 40 per cent", more=40.0),),
)
def gaussian_is_better(case: Case, more: float = 0.0) -> Outcome:
    """Compare the means; the recalls use the same split, so their deviations add up."""
    gain = float((case.gauss - case.linear).mean()) - more
    deviations = np.hypot(deviation(case.linear), deviation(case.gauss))
    half = INTERVAL * float(deviations.mean())
    return effect(gain - half, gain + half, Tier.FLOAT, gain=gain)


def families_compared(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the best precision of each family at the smallest and the largest recall."""
    table = stored_table("macha2020_table3")
    for features in ("raw", "standardised"):
        for kernel in ("linear", "rbf"):
            push, patmat = (
                np.max([precisions(table, features, kernel, m) for m in family], axis=0)
                for family in (PUSH, PATMAT)
            )
            kind = f"{features}, {kernel}, {table.kind()}"
            half = INTERVAL * np.hypot(deviation(push), deviation(patmat))
            small = {"best": push[0], "other": patmat[0], "half": half[0]}
            large = {"best": patmat[-1], "other": push[-1], "half": half[-1]}
            yield Case(kind=f"small recall, {kind}", data=SETS, **small)
            yield Case(kind=f"large recall, {kind}", data=SETS, **large)


@claim(
    "M20-table3-recall",
    "4.4, Table 3",
    "TopPush and TopPushK have the highest precision at small recall, Pat&Mat at large recall.",
    judged="on our data sets; small is 0.05 and large is 0.8, the first and last recall of "
    "the table. " + ONE_CUT,
    cases=families_compared,
    from_table=True,
    experiment=ON_SETS,
    not_proved=MEASURED,
    planted=(version("higher by 60 per cent", more=60.0),),
)
def best_family(case: Case, more: float = 0.0) -> Outcome:
    gain = float(case.best - case.other) - more
    return effect(gain - case.half, gain + case.half, Tier.FLOAT, gain=gain)
