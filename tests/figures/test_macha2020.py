"""M20's figure and table from end to end, small; what is stored is what a run gives."""

import pytest

from figures.kit.script import script
from figures.kit.study import Study
from figures.macha2020 import figure3 as macha2020_figure3
from figures.macha2020 import table4 as macha2020_table4
from fwlab import ranking
from fwlab.experiments.cells import DataName

DATA = DataName("digits", "unit", rows=60)


@pytest.mark.parametrize(
    ("name", "endings"),
    [
        ("macha2020_figure3", {".png", ".pdf", ".caption.md"}),
        ("macha2020_table4", {".csv", ".md", ".tex", ".caption.md"}),
    ],
)
def test_a_quick_study_is_drawn(name, endings, tmp_path):
    study = Study(name, "quick", tmp_path)
    script(name).compute(study)
    files = script(name).plot(study)
    assert {"." + file.name.split(".", 1)[1] for file in files} == endings
    assert all(file.stat().st_size for file in files)


def test_values_are_the_best_so_far():
    found = macha2020_figure3.solved(DATA, 0, ranking.TopPushK(2), "interior-point", 12)
    data = DATA.load()
    y = (data.y_train == 0).astype(int)
    result = ranking.solve(data.X_train, y, ranking.TopPushK(2), 1.0, tol=1e-10, max_iter=12)
    assert list(found["iteration"]) == list(range(1, result.nit + 1))
    assert found["primal"][-1] == result.trace.primal.min()
    assert found["dual"][-1] == result.trace.dual.max()
    assert found["gap"][-1] >= (found["primal"][-1] - found["dual"][-1]) / found["primal"][-1]


def test_the_table_sets_printed_numbers_beside_ours():
    value = {"n": 176, "loop": 2e-5, "deviation": 1e-6, "candidate": 1e-7}
    line = macha2020_table4.row("ionosphere|TopPushK", value)
    assert str(line[3]) == "0.020 (0.030, -0.010)" and str(line[5]) == "1.0e-07"
    assert [str(entry) for entry in line[6:]] == ["-", "-"]
