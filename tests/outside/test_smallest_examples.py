"""The whole files that the READMEs of the ledger and of the figures show."""

import json
import re

from files import ROOT, ran


def example(folder):
    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / folder / "README.md").read_text(), re.S)
    return source


def test_the_smallest_claim(tmp_path):
    (tmp_path / "my_claims.py").write_text(example("paper_checks"))
    (record,) = json.loads(ran(tmp_path, "paper_checks", "--file", "my_claims.py", "--json"))
    assert (record["id"], record["verdict"], record["cases"]) == ("MY-triangle", "holds", 100)


def test_the_smallest_figure(tmp_path):
    (tmp_path / "my_figure.py").write_text(example("figures"))
    ran(tmp_path, "figures", "--file", "my_figure.py", "--quick")
    rows = (tmp_path / "results" / "figures" / "quick" / "my_figure.csv").read_text().splitlines()
    assert len(rows) == 4 and rows[0] == "run,gap"
