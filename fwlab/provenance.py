"""Record which code, packages and machine made a result."""

import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fwlab.release import __version__

PACKAGES = ("numpy", "scipy", "numba")
FOLDER = Path(__file__).parents[1]
CPU_INFO = Path("/proc/cpuinfo")


def provenance() -> dict[str, str]:
    """Return the version and commit of fwlab, the versions of packages, the processor and the time.

    The commit is the HEAD of the checkout that fwlab runs from, followed by "+changes" if the
    sources differ from it. For an installed copy it is "".
    """
    return {**_fixed(), "date": datetime.now(UTC).isoformat(timespec="seconds")}


def installed(package: str) -> str:
    """Return the version of a package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@cache
def _fixed() -> dict[str, str]:
    return {
        "fwlab": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        **{package: installed(package) for package in PACKAGES},
        "processor": _processor(),
    }


def _commit() -> str:
    try:
        if not (FOLDER / ".git").exists():
            return ""
        commit = _git("rev-parse", "HEAD")
        changes = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+changes" if changes else commit


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(FOLDER), *arguments]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stdout.decode(errors="replace").strip()


def _processor() -> str:
    """Return the processor's name as the system reports it."""
    with suppress(OSError):
        for line in CPU_INFO.read_text("utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
