"""Commands in processes of their own, as a user starts them, with what a test does to them."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = ["--data", "digits", "--normalize", "unit", "-k", "3"]


def heed_ctrl_c() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def small_files(limit: int = 2000) -> None:
    """Let writes beyond `limit` bytes fail, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def started(
    folder: Path,
    arguments: list[str],
    before: Callable[[], None] = heed_ctrl_c,
    also: Path | None = None,
    **variables: str,
) -> subprocess.Popen[str]:
    """Return a command in `folder`, which finds the modules of the folder `also` first."""
    path = [str(ROOT)] if also is None else [str(also), str(ROOT)]
    own = {"PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **own, **variables},
        preexec_fn=before,
    )


def stored(folder: Path) -> list[Path]:
    """Return the files of finished runs or cells; drafts have hidden names."""
    kept = [*folder.glob("out/runs/*"), *folder.glob("results/figures/cells/*")]
    return [file for file in kept if not file.name.startswith(".")]


def ended(folder: Path, command: list[str], before: Callable[[], None] = heed_ctrl_c) -> str:
    """Return output of a command that ends by itself, both streams."""
    with started(folder, command, before) as run:
        out, errors = run.communicate(timeout=300)
    assert "Traceback" not in errors, errors
    return out + errors
