"""Hypothesis profiles and the data folder of the test suite."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from in_turn import in_turn, seed_of_commit

from fwlab import versions
from fwlab.result import Certificate

# dev, the default, and ci draw the same examples each time; fresh and deep take --hypothesis-seed
settings.register_profile("dev", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, print_blob=True)
settings.register_profile("fresh", deadline=None, max_examples=25, database=None, print_blob=True)
settings.register_profile(
    "deep", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
# any failure sees a planted defect: the smallest one is not looked for. Which examples are drawn
# depends on the release of hypothesis: enough of them, so that each release sees the defect
settings.register_profile(
    "planted",
    settings.get_profile("dev"),
    max_examples=200,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    profile = os.environ.get("HYPOTHESIS_PROFILE")
    if profile == "deep":
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="long run: set HYPOTHESIS_PROFILE=deep"))
    if profile == "planted" or any("::" in argument for argument in config.args):
        return
    chosen = in_turn((item.nodeid for item in items if takes_turns(item)), seed_of_commit())
    waiting = {item for item in items if takes_turns(item) and item.nodeid not in chosen}
    config.hook.pytest_deselected(items=list(waiting))
    items[:] = [item for item in items if item not in waiting]


def takes_turns(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("turns", "grid"))


must_be_explained = False


def explained(certificate: Certificate, checked: Any = Certificate.checked) -> Certificate:
    found: Certificate = checked(certificate)
    assert found is certificate or not must_be_explained, found.contradiction
    return found


Certificate.checked = explained  # type: ignore[method-assign]
# no patch, as far as stored runs are concerned
versions.SEEN.pop("fwlab.result", None)


@pytest.fixture(autouse=True)
def gaps_are_explained(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail on a gap that rounding errors do not explain, in all tests not marked wrong_gaps."""
    # what the last test has left is no change, nor is what this one changes before it stores a run
    monkeypatch.setattr(versions, "SEEN", {})
    marked = request.node.get_closest_marker("wrong_gaps")
    monkeypatch.setitem(globals(), "must_be_explained", not marked)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Provide the folder of the real data sets; tests that need it are skipped if there is none."""
    folder = os.environ.get("FWLAB_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("FWLAB_DATA names no folder with the real data sets")
    return Path(folder)
