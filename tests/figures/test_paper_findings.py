"""Findings of the scripts of T20, M20, L15 and LP15, on values that repeat the print or miss it."""

import itertools

import numpy as np
import pytest
from scipy import stats

from figures.kit import exponents
from figures.kit.findings import FigureOutcome
from figures.kit.readings import Reading, Tried, told_failures
from figures.kit.script import script, script_names
from figures.lapin2015 import tables as lapin
from figures.lei2015 import corollary8, table1, table2
from figures.macha2020 import figure3, fits, program, table3, table4
from figures.macha2020 import printed as macha
from figures.tajima2020 import convergence, machines
from figures.tajima2020 import printed as tajima
from figures.tajima2020 import table1 as errors
from figures.tajima2020 import table2 as seconds

pytestmark = pytest.mark.small
SIZE = "standard"
PAPERS = ("tajima2020", "macha2020", "lapin2015", "lei2015")


@pytest.mark.parametrize("name", [n for n in script_names() if n.startswith(PAPERS)])
def test_every_script_of_a_paper_has_a_finding(name):
    assert script(name).finding is not None


def test_failures_are_told_for_each_reading():
    tried = [Tried(Reading(name), {"x": d, "y": 0.0}) for name, d in (("a", 2.0), ("b", 0.5))]
    assert told_failures(tried, 1.0) == "under 'a' not so: x"
    assert told_failures(tried[:1], 1.0) == "not so: x"
    assert told_failures(tried[1:], 1.0) == ""


def test_a_bound_is_broken_from_above_alone():
    sizes = (1.0, 2.0, 4.0, 8.0)
    growths = [exponents.Growth((str(p),), (1,), [[s**p for s in sizes]]) for p in (0.3, 1, 1.5)]
    found = exponents.bound_distances(("n",), sizes, growths)
    assert found == pytest.approx({"0.3: n": 0.0, "1: n": 0.0, "1.5: n": 0.5}, abs=1e-9)


def runs(errors_of, smooth=1.0):
    """Return stored runs of T20's figures with the given errors, and gaps `smooth` times these."""
    values = {}
    names = [*convergence.sets(SIZE), machines.BLACK_AND_WHITE]
    for name, reading in itertools.product(names, machines.READINGS):
        best = {"last_primal": 0.0, "last_gap": 0.0}
        values[convergence.cell_name(name, "auto", 0.0, reading)] = best
        for method in machines.METHODS:
            error = errors_of(name, method, reading)
            run = {"primal": [1.0, error], "gap": [1.0, error], "iteration": [0, 1]}
            values[convergence.cell_name(name, method, 0.0, reading)] = run
            faster = {**run, "gap": [1.0, smooth * error]}
            values[convergence.cell_name(name, method, convergence.ENVELOPE, reading)] = faster
    return values


def test_tajima_figure_1_needs_similar_errors_and_the_line_search_ahead_of_pg():
    found = script("tajima2020_figure1").finding
    alike = {"PG": 1.5, "StdFW": 1.8, "LSFW": 1.0}
    one = found(runs(lambda name, method, reading: alike[method]), SIZE)
    assert (one.outcome, one.reading) == (FigureOutcome.AGREES, machines.RAW.name)
    one = found(runs(lambda name, method, reading: 10 * alike[method] ** 3), SIZE)
    assert one.outcome == FigureOutcome.NOT_EXPLAINED
    assert "Caltech101: no error is twice another" in one.because
    # rows of length 1 are not in the text
    unit = {machines.UNIT.name: 1.0, machines.RAW.name: 9.0}
    one = found(
        runs(lambda name, m, reading: alike[m] ** (unit[reading.name] if m == "PG" else 1)), SIZE
    )
    assert (one.outcome, one.reading) == (FigureOutcome.NOT_EXPLAINED, machines.UNIT.name)


@pytest.mark.parametrize(("binary", "outcome"), [(1, "explained"), (9, "not explained")])
def test_tajima_figure_1_is_explained_by_grey_pixels_if_others_agree(binary, outcome):
    alike = {"PG": 1.5, "StdFW": 1.8, "LSFW": 1.0}
    powers = {"Caltech101": 9, machines.BLACK_AND_WHITE: binary}
    values = runs(lambda name, m, reading: alike[m] ** powers.get(name, 1))
    found = script("tajima2020_figure1").finding(values, SIZE)
    assert (found.outcome, found.reading) == (outcome, machines.RAW.name)
    assert f"the errors differ by a factor of {1.8**binary:.3g} in place of 198" in found.because
    assert ("not the published pixels" in found.because) == (binary == 9)


def test_black_and_white_pixels_are_compared_in_the_texts_reading_alone():
    (source,) = machines.black_and_white(SIZE).values()
    assert source.grey == machines.under(machines.RAW, machines.HERE)["Caltech101"]
    assert machines.black_and_white("quick") == {}
    one = Tried(machines.UNIT, {"Caltech101: no error is twice another": 0.0})
    assert convergence.grey_pixels({}, one) == []


@pytest.mark.parametrize(("smooth", "outcome"), [(0.9, "agrees"), (1.1, "not explained")])
def test_tajima_figure_2_needs_smaller_gaps(smooth, outcome):
    values = runs(lambda name, method, reading: 0.1, smooth)
    assert script("tajima2020_figure2").finding(values, SIZE).outcome == outcome


def tajima_errors(shift):
    values = {}
    places = [*itertools.product(machines.READINGS, machines.data(SIZE).items())]
    places += [(machines.RAW, pair) for pair in machines.black_and_white(SIZE).items()]
    for reading, (name, source) in places:
        plan = errors.plan_of(SIZE, reading, name)
        for cell in errors.cells_of(name, source, reading, plan):
            method = cell.name.split("|")[2]
            if method in machines.METHODS:
                printed = tajima.TABLE_1[name.removesuffix(" in black and white")][method]
                means = [mean + shift(name) for mean, _ in printed]
                values[cell.name] = [{"error": means, "gap": 0.1} for _ in plan.Cs]
    return values


@pytest.mark.parametrize(
    ("binary", "news", "outcome"),
    [(0.002, 0.002, "explained"), (0.1, 0.002, "not explained"), (0.002, 0.1, "not explained")],
)
def test_tajima_table_1_is_explained_by_grey_pixels_if_others_agree(binary, news, outcome):
    shifts = {machines.BLACK_AND_WHITE: binary, "Caltech101": 0.1, "News20": news}
    values = tajima_errors(shifts.__getitem__)
    found = errors.finding(values, SIZE)
    assert (found.outcome, found.reading) == (outcome, machines.RAW.name)
    assert f"differ by {binary:+.3f} on average in place of +0.100" in found.because
    for name in [cell for cell in values if machines.BLACK_AND_WHITE in cell]:
        del values[name]
    found = errors.finding(values, SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED and "pixels are" not in found.because


def test_black_and_white_pixels_are_fitted_as_the_text_has_its_rows():
    cells = {cell.name: cell for cell in errors.cells(SIZE)}
    grey = errors.cell_name("Caltech101", 0, "LSFW", "test", machines.RAW)
    binary = errors.cell_name(machines.BLACK_AND_WHITE, 0, "LSFW", "test", machines.RAW)
    assert cells[binary].settings["source"].grey == cells[grey].settings["source"]
    assert cells[binary].settings["plan"] == cells[grey].settings["plan"]
    assert not any("black" in cell.name for cell in errors.cells("quick"))


def test_columns_in_which_the_line_search_leads():
    values = tajima_errors(lambda name: 0.0)
    first = errors.columns_of_lsfw(values, SIZE, "Caltech101")
    means = {m: [mean for mean, _ in tajima.TABLE_1["Caltech101"][m]] for m in machines.METHODS}
    assert first == sum(
        least == min(column) for least, *column in zip(means["LSFW"], *means.values(), strict=True)
    )
    (name,) = [cell for cell in values if cell.startswith("Caltech101|trial 0|LSFW|test|rows as")]
    values[name] = [{**one, "error": [2.0, *one["error"][1:]]} for one in values[name]]
    assert errors.columns_of_lsfw(values, SIZE, "Caltech101") == first - 1


def test_tajima_table_1_is_judged_by_the_papers_deviations():
    assert errors.finding(tajima_errors(lambda name: 0.002), SIZE).outcome == FigureOutcome.AGREES
    found = errors.finding(tajima_errors(lambda name: -0.1 * (name == "News20")), SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED
    assert "News20, rows of length 1, -0.100" in found.because


def test_rows_as_they_are_have_the_c_of_pixels_in_the_unit_interval():
    assert machines.weight(machines.RAW, "Caltech101", 2.0) == pytest.approx(2 / 255**2)
    assert machines.weight(machines.UNIT, "Caltech101", 2.0) == 2.0
    sources = machines.under(machines.RAW, machines.HERE)
    assert {source.normalize for source in sources.values()} == {None}


def test_tajima_table_2_is_judged_by_ratios_and_orders():
    values = {
        name: dict(zip(tajima.METHODS, times, strict=True))
        for name, times in tajima.TABLE_2.items()
    }
    assert seconds.finding(values, SIZE).outcome == FigureOutcome.AGREES
    slow = {name: {**times, "LSFW": 2 * times["StdFW"]} for name, times in values.items()}
    assert seconds.finding(slow, SIZE).outcome == FigureOutcome.NOT_EXPLAINED


def precisions(shift):
    """Return stored fits of M20 Table 3 with shift(way, kernel) more than printed."""
    values = {}
    for name, way in itertools.product(fits.names(SIZE), table3.READINGS):
        for machine, kernel, sigma, C in fits.grid(SIZE):
            test = np.array(macha.TABLE_3[kernel][machine]) + shift(way, kernel)
            cell = fits.cell_name(name, way, machine, kernel, sigma, C)
            values[cell] = {"valid": [1.0], "test": test.tolist()}
    return values


def test_macha_table_3_agrees_if_the_loops_repeat_the_print():
    far = {"raw": 40.0, "standardised": -40.0, fits.BY_LOOPS: 0.0}
    found = table3.finding(precisions(lambda way, kernel: far[way]), SIZE)
    assert (found.outcome, found.n_readings) == (FigureOutcome.AGREES, 3)
    assert found.reading == table3.READINGS[fits.BY_LOOPS].name
    far = {"raw": 0.0, "standardised": -40.0, fits.BY_LOOPS: 40.0}
    found = table3.finding(precisions(lambda way, kernel: far[way]), SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED
    found = table3.finding(precisions(lambda way, kernel: 40.0 * (kernel == "linear")), SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED
    assert "linear 0 of 36" in found.because and "rbf 36 of 36" in found.because


def test_the_deviation_of_a_mean_precision_is_binomial():
    rng = np.random.default_rng(0)
    share, recall = 0.6, 0.4
    means = np.zeros(4000)
    for *_, (n, percentage) in macha.TABLE_2.values():
        rows = round(recall * n * percentage / 100 / share)
        means += rng.binomial(rows, share, len(means)) / rows / len(macha.TABLE_2)
    found = table3.deviation(np.full(len(macha.RECALLS), 100 * share))
    assert found[macha.RECALLS.index(recall)] == pytest.approx(100 * means.std(), rel=0.1)


@pytest.mark.parametrize(
    ("gap", "left", "holding", "outcome"),
    [
        (1e-9, {0.1: 0.03, 1.0: 1e-5}, 3, "agrees with the program"),
        (1e-9, {0.1: 1e-4, 1.0: 0.03}, 3, "agrees with the program"),
        (1e-9, {0.1: 1e-4, 1.0: 1e-5}, 2, "not explained"),
        (0.1, {0.1: 0.03, 1.0: 1e-5}, 1, "not explained"),
    ],
)
def test_macha_figure_3_wants_a_gap_of_patmat_alone(gap, left, holding, outcome):
    cells = [cell.name for cell in figure3.cells(SIZE)]
    values = {cell: {"gap": [1.0, gap]} for cell in cells}
    found = figure3.finding(values | starts(left), SIZE)
    assert found.outcome == outcome and found.n_readings == 3
    assert found.measured.startswith(f"{holding} of 3 statements hold")
    assert ("src/PatMat.jl" in found.because) == (outcome == "agrees with the program")


def starts(left):
    """Return runs from the program's start that leave these gaps, by C; the control closes them."""
    return {
        figure3.started(C, seed): {"gap": [one] * program.CHECKS + [1e-15] * program.CHECKS}
        for C, one in left.items()
        for seed in figure3.SEEDS
    }


def test_one_start_without_a_gap_is_no_gap_of_the_program():
    values = {cell.name: {"gap": [1e-9]} for cell in figure3.cells(SIZE)}
    values |= starts({0.1: 0.03, 1.0: 0.03})
    for C in figure3.PROGRAM_CS:
        values[figure3.started(C, figure3.SEEDS[-1])]["gap"][program.CHECKS - 1] = 1e-6
    assert figure3.finding(values, SIZE).outcome == FigureOutcome.NOT_EXPLAINED


def test_the_other_objectives_confirm_with_the_c_of_the_reading():
    values = {cell.name: {"gap": [1e-9]} for cell in figure3.cells(SIZE)}
    values |= starts({0.1: 0.03, 1.0: 1e-5})
    assert figure3.finding(values, SIZE).outcome == FigureOutcome.AGREES_WITH_PROGRAM
    for method in figure3.METHODS:
        values[figure3.with_C(figure3.MEETING[1], method, 0.1)] = {"gap": [1e-2]}
    assert figure3.finding(values, SIZE).outcome == FigureOutcome.NOT_EXPLAINED


@pytest.mark.parametrize(
    ("constant", "power", "outcome"),
    [
        (0.0, 1.0, "agrees"),
        (500.0, 1.0, "explained"),  # with it, a slope of 0.56 between the logarithms
        (5000.0, 1.0, "not explained"),  # the constant is most of the time everywhere
        (0.0, 0.5, "not explained"),
        (0.0, 2.0, "not explained"),
    ],
)
def test_macha_table_4_is_judged_by_orders_and_growths(constant, power, outcome):
    sizes = {name: row[0][0] for name, row in zip(table4.PRINTED, rows_of_table_2(), strict=True)}
    values = {
        f"{name}|{label}": {"n": n, "loop": constant + n**power}
        for name, n in sizes.items()
        for label in table4.OBJECTIVES
    }
    assert table4.finding(values, SIZE).outcome == outcome


def rows_of_table_2():
    return [row[1:] for row in macha.TABLE_2.values()]


def accuracies(alpha, true, others=0.0):
    values = {}
    for machine in lapin.machine_names(SIZE):
        shift = alpha if machine.endswith("alpha") else true if machine.endswith("true") else others
        row = lapin.PRINTED[lapin.CALTECH][machine.replace("true", "alpha")]
        entry = {"accuracy": [(a + shift) / 100 for a in row], "gap": 0.0, "own_gap": 0.0}
        for fold in ("valid", "test"):
            entries = [{**entry, "status": "CONVERGED"}]
            values[f"{lapin.CALTECH}, {machine}, fold {fold}"] = entries
    return values


def test_lapin_table_1_is_judged_by_the_machine_that_the_paper_trained():
    found = lapin.finding(accuracies(0.1, 4.0), SIZE, 1)
    assert (found.outcome, found.n_readings) == (FigureOutcome.AGREES, 1)
    assert found.measured == "96 of 96 accuracies on Caltech101 within 1.7 per cent"
    assert lapin.finding(accuracies(3.0, 0.1), SIZE, 1).outcome == FigureOutcome.NOT_EXPLAINED
    assert lapin.finding({}, SIZE, 2).outcome == FigureOutcome.NOTHING
    told = lapin.which_loss(accuracies(0.1, 4.0), lapin.CALTECH, SIZE)
    assert "pseudo top-k loss 42 of 42, on average by 0.10" in told
    assert "top-k hinge 0 of 42, on average by 4.00" in told


def test_the_interval_of_a_gain_is_that_of_welch():
    rng = np.random.default_rng(0)
    first, second = rng.normal(86, 0.3, 10), rng.normal(85, 0.1, 10)
    found = {
        table2.LP: (first.mean(), first.std(ddof=1)),
        table2.CRAMMER_SINGER: (second.mean(), second.std(ddof=1)),
    }
    gain, half = table2.gain_interval(found, 10)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (gain - half, gain + half) == pytest.approx((expected.low, expected.high))


def lei_values(lp, crammer_singer):
    """Return stored paths with test accuracies around these; p = 1.5 is the best."""
    values = {}
    for p, repetition in itertools.product(table2.PS[SIZE], range(table2.REPETITIONS[SIZE])):
        best = {1.5: lp, 2.0: crammer_singer}.get(p, 0.0)
        for fold in (0, "test"):
            entry = {"accuracy": [best / 100 + 1e-4 * repetition], "gap": 0.0, "C": 1.0}
            values[table2.name(table2.NEWS, p, repetition, fold)] = [entry]
    return values


def test_lei_table_2_tells_the_interval_of_the_gain():
    assert table2.finding(lei_values(86.19, 85.12), SIZE).outcome == FigureOutcome.AGREES
    found = table2.finding(lei_values(85.37, 85.31), SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED
    assert "+0.06 here, 95% interval [" in found.because and "+1.07 in the paper" in found.because


def test_lei_table_1_has_no_data_but_the_readers_own():
    printed = {name: [*numbers] for name, numbers in table1.PRINTED.items()}
    news = {table1.NEWS: [20, 15_935, 3995, 62_264]}
    found = table1.finding(news, SIZE)
    assert found.outcome == FigureOutcome.NOTHING and found.measured.startswith("2 of 4 numbers")
    assert table1.finding({**printed, **news}, SIZE).outcome == FigureOutcome.AGREES
    wrong = {**printed, **news, "Sector": [1, 2, 3, 4]}
    assert table1.finding(wrong, SIZE).outcome == FigureOutcome.NOT_EXPLAINED


def bounds(excess, risk=0.5):
    values = {}
    for c, p in {(c, p) for p in corollary8.FIXED_PS for c in corollary8.CLASSES[SIZE]}:
        term = float(corollary8.stated_growth(np.array(c), p)) * c**excess
        values[corollary8.name(c, p)] = {
            "corollary_8": term,
            "risk": risk,
            "mean_loss": 0.0,
            "confidence": 0.0,
        }
    return values


def test_lei_corollary_8_grows_no_faster_than_stated():
    assert corollary8.finding(bounds(-0.1), SIZE).outcome == FigureOutcome.AGREES
    found = corollary8.finding(bounds(0.1), SIZE)
    assert found.outcome == FigureOutcome.NOT_EXPLAINED
    far = ", ".join(["p = 2: no faster than stated", "p = 1.05: no faster than stated"])
    assert found.because == f"tried 1 reading; not so: {far}"
    assert corollary8.finding(bounds(-0.1, 1e6), SIZE).outcome == FigureOutcome.NOT_EXPLAINED


@pytest.mark.parametrize(("factor", "rises"), [(1.0, False), (1.000001, False), (1.0003, True)])
def test_the_growth_of_corollary_8_allows_for_the_stored_digits(factor, rises):
    values = {}
    for c, p in {(c, p) for p in corollary8.FIXED_PS for c in corollary8.CLASSES[SIZE]}:
        term = float(corollary8.stated_growth(np.array(c), p))
        term *= factor if c == max(corollary8.CLASSES[SIZE]) else 1.0
        values[corollary8.name(c, p)] = {
            "corollary_8": term + 1.5, "mean_loss": 1.0, "confidence": 0.5, "risk": 0.0,
        }  # fmt: skip
    found = corollary8.finding(values, SIZE)
    assert ("no faster than stated" in found.because) == rises
    one = {"corollary_8": 2.0, "mean_loss": 1.0, "confidence": 0.5}
    sizes = corollary8.sizes([one], "corollary_8")
    assert sizes.tolist() == [3.5]
