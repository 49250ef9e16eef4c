"""Run a study for the tests to kill: python killed_run.py FOLDER.

Every cell writes to FOLDER/computed when it ends; results go to FOLDER/values.json.
"""

import json
import sys
import time
from pathlib import Path

from fwlab import TopK
from fwlab.experiments.cells import Cell, run_cells
from fwlab.experiments.cross_validation import Protocol, accuracy_path
from fwlab.experiments.data_name import DataName

DATA = DataName("digits", "unit", rows=60)
PROTOCOL = Protocol(Cs=(0.1, 10.0), ks=(1, 3), n_folds=2, max_iter=20)


def slow_path(k, fold, log):
    entries = accuracy_path(DATA, TopK(k), 0.0, fold, PROTOCOL)
    time.sleep(0.15)
    (Path(log) / f"{k} {fold} {time.time_ns()}").touch()
    return [{name: value for name, value in e.items() if name != "seconds"} for e in entries]


def main(folder):
    log = str(folder / "computed")
    Path(log).mkdir(exist_ok=True)
    cells = [
        Cell(f"{k} {fold}", slow_path, {"k": k, "fold": fold, "log": log})
        for k in (1, 2, 3)
        for fold in (0, 1, "test")
    ]
    values = run_cells(cells, folder / "cells")
    (folder / "values.json").write_text(json.dumps(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
