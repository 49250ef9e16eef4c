"""A linear probe on features in a file, with the command line, and what larger ones would take.

Class means plus noise, rows of length 1, float32, made in a temporary folder; TopK(5), lam =
1/(C n), ascent to a relative gap of 1e-2. The probe runs `fwlab solve --out-of-core` over five C.
CPU seconds of a pass are measured at small sizes, where n, d and m are doubled in turn; their
exponents carry the time of the probe over to larger features.
"""

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import fwlab
from fwlab import distributed

PROBE = {"n": 200_000, "d": 512, "m": 1000}
IMAGENET = {"n": 1_280_000, "d": 2048, "m": 1000}
SMALL = {"n": 10_000, "d": 512, "m": 500}
CS = "0.01,0.1,1,10,100"
SEPARATION, K = 0.2, 5
ROWS_AT_ONCE = 5000


def write(folder: Path, n: int, d: int, m: int) -> None:
    """Write features and labels of n samples to train on and of n / 20 to validate on."""
    rng = np.random.default_rng(0)
    means = SEPARATION * rng.standard_normal((m, d), dtype=np.float32)
    for name, count in {"train": n, "valid": n // 20}.items():
        y = rng.integers(0, m, count)
        y[: min(m, count)] = np.arange(min(m, count))
        X = np.lib.format.open_memmap(folder / f"X_{name}.npy", "w+", np.float32, (count, d))
        for start in range(0, count, ROWS_AT_ONCE):
            labels = y[start : start + ROWS_AT_ONCE]
            rows = means[labels] + rng.standard_normal((len(labels), d), dtype=np.float32)
            X[start : start + len(labels)] = rows / np.linalg.norm(rows, axis=1)[:, None]
        np.save(folder / f"y_{name}.npy", y)


def command(folder: Path, Cs: str, tol: float) -> list[str]:
    """Return the words of the probe's command."""
    files = {"data": "X_train", "labels": "y_train"}
    files |= {"validation": "X_valid", "validation-labels": "y_valid"}
    flags = [word for flag, name in files.items() for word in (f"--{flag}", f"{name}.npy")]
    options = ["-k", str(K), "--C", Cs, "--relative", "--tol", str(tol), "--max-memory", "500MB"]
    return ["fwlab", "solve", "--out-of-core", *flags, *options, "--out", str(folder / "path")]


def pass_seconds(n: int, d: int, m: int, passes: int = 2) -> float:
    """Return the CPU seconds of a pass that follows another one."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), n, d, m)
        y = np.load(Path(name) / "y_train.npy")
        loss = fwlab.TopK(K)
        problem = distributed.OutOfCoreProblem(
            Path(name) / "X_train.npy", y, loss, C=1.0, max_memory="500MB"
        )
        times = []
        for count in (1, 1 + passes):
            began = time.process_time()
            distributed.solve(problem, tol=0.0, max_iter=count, check_every=100)
            times.append(time.process_time() - began)
    return (times[1] - times[0]) / passes


def exponents(small: Mapping[str, int]) -> tuple[dict[str, float], float]:
    """Return the exponent of each size in the seconds of a pass, and the seconds at `small`."""
    base = pass_seconds(**small)
    doubled = {name: pass_seconds(**{**small, name: 2 * small[name]}) for name in small}
    return {name: math.log2(seconds / base) for name, seconds in doubled.items()}, base


def run(quick: bool) -> None:
    """Run the probe, print its table, and print the forecast."""
    probe = {"n": 2000, "d": 32, "m": 10} if quick else PROBE
    small = {"n": 500, "d": 32, "m": 10} if quick else SMALL
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), **probe)
        words = command(Path(name), CS, 1e-2)
        began = time.monotonic()
        table = subprocess.run(
            [sys.executable, "-m", *words], cwd=name, check=True, capture_output=True, text=True
        ).stdout
        seconds = time.monotonic() - began
    print(f"{' '.join(words)}\n\n{table}\n{seconds:.0f} s in all")
    found, base = exponents(small)
    growth = math.prod((IMAGENET[n] / probe[n]) ** found[n] for n in found)
    shown = ", ".join(f"{name} {slope:.2f}" for name, slope in found.items())
    print(f"a pass at {small}: {base:.2f} CPU s; exponents: {shown}")
    print(f"{IMAGENET} takes {growth:.1f} times as long: {growth * seconds / 3600:.1f} h")
