"""What K19 sections 7.1 to 7.3 state of News20, and the one reading of it for Figures 2 to 4.

Each section has statements that choose the reading, together with those of the other two, and
statements that have no part in the choice. `choosing_cells` are the runs of the former: the three
figures store them all, so that each comes to the same choice. Distances are decimal logarithms of
factors, or 0 and 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import fwlab
from figures.kato2019.news20 import (
    MAX_ITER,
    N_GAMMA,
    READINGS,
    SCALINGS,
    TOP_K,
    K,
    cell_name,
    excess,
    factor,
    reading_cell,
)
from figures.kit.judge import nearest
from figures.kit.readings import Reading, Tried, truth_distance
from figures.kit.traces import arrival, best_so_far, first_below, sooner
from fwlab.experiments import Cell

Values = dict[str, Any]

# section 7.1: smallest gap of SDCA, and by how much its primal exceeds the standard one
SDCA_GAP, SDCA_ABOVE = 1.34e-2, 4.17e-3
# section 7.1: iterations at which runs end
EPOCHS = 1000
# section 7.2: iterations within which the gap is below 1e-3 with smoothing 0.1
EIGHT = 8
METHODS = {"fw": "Std FW", "afw": "AFW", "pfw": "PFW"}
# flat weights are the unweighted loss
LOSSES = {
    "flat": TOP_K,
    "linear": fwlab.WeightedTopK(fwlab.weights.linear(K)),
    "exp": fwlab.WeightedTopK(fwlab.weights.exponential(K)),
}
# iterations at which curves with other weights are compared
PLACES = (1, 3, 10, 30, 100)
# runs of Figure 2 by their iterations; their seconds are compared, so that no other figure has them
ALONE = "alone"
ALONE_RUNS = {"fw": EPOCHS, "afw": 90, "pfw": 90}
ONE_READING = (
    "Figures 2, 3 and 4 have one reading of News20, which they choose together; its smoothing "
    "enters Figure 3 alone."
)


def choosing_cells(
    readings: Sequence[Reading] = READINGS, scalings: Sequence[Reading] = SCALINGS
) -> list[Cell]:
    """Return the runs by which the reading is chosen."""
    found = [reading_cell(one, "fw", 0.1) for one in readings]
    for one in scalings:
        found += [reading_cell(one, method) for method in ("sdca-lapin", "auto", "fw")]
        found.append(weighted_cell(one, "linear"))
    return found


def alone_cells() -> list[Cell]:
    """Return the runs of Figure 2 whose seconds are compared."""
    return [
        reading_cell(one, method, max_iter=cap, note=ALONE)
        for one in SCALINGS
        for method, cap in ALONE_RUNS.items()
    ]


def weighted_cell(reading: Reading, weights: str, max_iter: int = MAX_ITER) -> Cell:
    """Return the run of the standard method with these weights."""
    note = "" if weights == "flat" else weights
    return reading_cell(reading, "fw", max_iter=max_iter, loss=LOSSES[weights], note=note)


def section_1(values: Values, reading: str) -> dict[str, float]:
    """Return how far what SDCA leaves is from the numbers of section 7.1."""
    sdca, least = (values[cell_name(reading, m)] for m in ("sdca-lapin", "auto"))
    above = sdca["last_primal"] - least["last_primal"]
    return {
        "smallest gap of SDCA": factor(min(sdca["gap"]), SDCA_GAP),
        "primal of SDCA above the least": factor(above, SDCA_ABOVE),
    }


def section_2(values: Values, reading: str) -> dict[str, float]:
    """Return how far the standard method is from the eight iterations of section 7.2."""
    return {"Std FW within eight": Smoothed(values, reading).within_eight("fw")}


def section_3(values: Values, reading: str, weights: str = "linear") -> dict[str, float]:
    """Return how far gaps are from the gaps with flat weights, at a few iterations."""
    flat, other = (run_of(values, reading, w) for w in ("flat", weights))
    return {
        f"{weights}, iteration {place}": factor(gap_at(other, place), gap_at(flat, place))
        for place in PLACES
    }


def chosen(values: Values) -> Reading:
    """Return the reading of News20 that is nearest to the choosing statements of all sections."""
    return nearest([choosing(values, one) for one in READINGS]).reading


def choosing(values: Values, reading: Reading) -> Tried:
    """Return the distances of the statements by which the reading is chosen."""
    at = values, reading.name
    return Tried(reading, {**section_1(*at), **section_2(*at), **section_3(*at)})


def chosen_scaling(values: Values) -> str:
    """Return the scaling of the chosen reading, for figures that no smoothing enters."""
    return chosen(values).name.removesuffix(N_GAMMA)


@dataclass(frozen=True)
class Iterations:
    """Iterations to a gap of 1e-3, and of fw to 1e-5; infinite if the cap came first."""

    fw: float
    afw: float
    pfw: float
    fw_end: float

    @classmethod
    def of(cls, values: Values, reading: str) -> "Iterations":
        to = {method: alone(values, reading, method) for method in ALONE_RUNS}
        fw, afw, pfw = (first_below(to[m], 1e-3) or math.inf for m in ("fw", "afw", "pfw"))
        return cls(fw, afw, pfw, first_below(to["fw"], 1e-5) or math.inf)


def alone(values: Values, reading: str, method: str) -> Any:
    """Return the run of a method whose seconds are compared."""
    return values[cell_name(reading, method, note=ALONE)]


def rest_of_section_1(values: Values, reading: str) -> dict[str, float]:
    """Return the distances of the Frank-Wolfe runs' statements in section 7.1."""
    counts = Iterations.of(values, reading)
    seconds = {method: arrival(alone(values, reading, method), 1e-3) for method in ALONE_RUNS}
    first = all(sooner(seconds["fw"], seconds[other]) for other in ("afw", "pfw"))
    return {
        f"FW is at 1e-5 within {EPOCHS} iterations": truth_distance(counts.fw_end <= EPOCHS),
        "FW is there sooner than AFW and PFW (K19-fig2-order)": truth_distance(first),
        "PFW takes fewer iterations than AFW": truth_distance(counts.pfw < counts.afw),
    }


class Smoothed:
    """How far the runs of one reading are from section 7.2."""

    def __init__(self, values: Values, reading: str) -> None:
        self.values, self.reading = values, reading

    def value(self, method: str, smoothing: float) -> dict[str, Any]:
        return dict(self.values[cell_name(self.reading, method, smoothing)])

    def iterations(self, method: str, smoothing: float) -> float:
        """Return the iterations to a gap of 1e-3, infinite if the cap came first."""
        return first_below(self.value(method, smoothing), 1e-3) or math.inf

    def within_eight(self, method: str) -> float:
        return excess(self.iterations(method, 0.1), EIGHT)

    def faster(self, method: str) -> float:
        return truth_distance(self.iterations(method, 0.1) < self.iterations(method, 0.0))

    def alike(self, method: str) -> float:
        """Compare smoothing 1e-3 with none; no statement if neither gets there."""
        smoothed, plain = self.iterations(method, 1e-3), self.iterations(method, 0.0)
        return factor(smoothed, plain) if plain < math.inf else math.inf

    def steeper(self, method: str) -> float:
        """Compare with Std FW, which slows down at 1e-2, how the gap falls from iteration 10 on."""
        return truth_distance(fall(self.value(method, 1e-2)) > fall(self.value("fw", 1e-2)))


def rest_of_section_2(values: Values, reading: str) -> dict[str, float]:
    """Return the distances of all other statements of section 7.2."""
    found = Smoothed(values, reading)
    rest = {f"{METHODS[m]} within eight": found.within_eight(m) for m in ("afw", "pfw")}
    for method, title in METHODS.items():
        rest[f"{title}: larger smoothing is faster"] = found.faster(method)
        rest[f"{title}: smoothing 1e-3 is like none"] = found.alike(method)
    for method in ("afw", "pfw"):
        rest[f"{METHODS[method]}: no slowdown at 1e-2"] = found.steeper(method)
    return rest


def fall(value: dict[str, Any], start: int = 10) -> float:
    """Return minus the slope of the gap from an iteration to the last, on logarithmic axes.

    A run that ends before falls infinitely fast.
    """
    iterations, gaps = best_so_far(value)
    later = iterations >= start
    x, y = iterations[later], gaps[later]
    if len(x) < 2 or y[-1] <= 0:
        return math.inf
    return -math.log(y[-1] / y[0]) / math.log(x[-1] / x[0])


def run_of(values: Values, reading: str, weights: str) -> dict[str, Any]:
    """Return the run of the standard method with these weights."""
    return dict(values[cell_name(reading, "fw", note="" if weights == "flat" else weights)])


def gap_at(value: dict[str, Any], iteration: int) -> float:
    """Return the smallest gap until an iteration, the last one if the run ended before."""
    iterations, gaps = best_so_far(value)
    return float(gaps[np.searchsorted(iterations, iteration, side="right") - 1])
