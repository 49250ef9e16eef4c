"""A linear probe on features in a file, with the command line, and a forecast for larger ones.

Class means plus noise, rows of length 1, float32, made in a temporary folder; TopK(5), lam =
1/(C n), ascent to a relative gap of 1e-2. The probe runs `fwlab solve --out-of-core` over five C,
and the memory is the largest resident size of its process.

CPU seconds of a pass are measured at SMALL, and with each size replaced by that of LARGER. They
give an exponent for each size. The larger d and m are close to those of the forecast, and n
multiplies the rows of a pass. The forecast is the CPU time of the probe times a power of each
quotient of sizes: it assumes the same number of passes at each C.

The last table shows at which gaps the proved intervals are useful, on INTERVALS with C = 0.1.
"""

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line
from fwlab import distributed

PROBE = {"n": 200_000, "d": 512, "m": 1000}
IMAGENET = {"n": 1_280_000, "d": 2048, "m": 1000}
SMALL = {"n": 8_000, "d": 512, "m": 1000}
LARGER = {"n": 32_000, "d": 2048, "m": 2000}
RUNS = 3
INTERVALS, TOLS = {"n": 20_000, "d": 512, "m": 100}, (1e-3, 1e-4, 1e-5, 1e-6)
CS = "0.001,0.01,0.1,1,10"
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


def pass_seconds(n: int, d: int, m: int, passes: int = 4) -> float:
    """Return the CPU seconds per pass after the first one, without shrinking."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), n, d, m)
        y = np.load(Path(name) / "y_train.npy")
        loss = fwlab.TopK(K)
        problem = distributed.OutOfCoreProblem(
            Path(name) / "X_train.npy", y, loss, C=1.0, max_memory="500MB"
        )

        def seconds(count: int) -> float:
            began = time.process_time()
            distributed.solve(problem, tol=0.0, max_iter=count, check_every=100, shrink=False)
            return time.process_time() - began

        seconds(1)  # compiles
        return median((seconds(1 + passes) - seconds(1)) / passes for _ in range(RUNS))


def exponents(
    small: Mapping[str, int], larger: Mapping[str, int]
) -> tuple[dict[str, float], float]:
    """Return the exponent of each size in the seconds of a pass, and the seconds at `small`."""
    base, found = pass_seconds(**small), {}
    for name, size in larger.items():
        growth = pass_seconds(**{**small, name: size}) / base
        found[name] = math.log(growth) / math.log(size / small[name])
    return found, base


def children() -> tuple[float, float]:
    """Return the CPU seconds of all ended child processes, and the megabytes of the largest."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024e-6


def print_intervals(n: int, d: int, m: int) -> None:
    """Print the top-k accuracy on validation samples, and its proved interval, by gap."""
    print_line(("gap", "passes", f"top-{K} accuracy", "of the optimum"))
    print_line(["---"] * 4)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), n, d, m)
        y, y_valid = (np.load(Path(name) / f"y_{which}.npy") for which in ("train", "valid"))
        problem = distributed.OutOfCoreProblem(Path(name) / "X_train.npy", y, fwlab.TopK(K), C=0.1)
        validation = Path(name) / "X_valid.npy", y_valid
        for tol in TOLS:
            (point,) = distributed.path(problem, [0.1], validation=validation, tol=tol)
            found = point.accuracies[-1]
            interval = f"[{found.low:.3f}, {found.high:.3f}]"
            gap, passes = f"{point.result.gap:.1e}", str(point.result.nit)
            print_line((gap, passes, f"{found.share:.3f}", interval))


def run(quick: bool) -> None:
    """Run the probe, print its table, and print the forecast."""
    probe = {"n": 2000, "d": 32, "m": 10} if quick else PROBE
    small = {"n": 2000, "d": 64, "m": 20} if quick else SMALL
    larger = {name: 4 * size for name, size in small.items()} if quick else LARGER
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), **probe)
        words = command(Path(name), CS, 1e-2)
        began = time.monotonic()
        table = subprocess.run(
            [sys.executable, "-m", *words], cwd=name, check=True, capture_output=True, text=True
        ).stdout
        wall, (cpu, peak) = time.monotonic() - began, children()
    print(f"{' '.join(words)}\n\n{table}\n{wall:.0f} s, {cpu:.0f} CPU s, at most {peak:.0f} MB")
    found, base = exponents(small, larger)
    growth = math.prod((IMAGENET[n] / probe[n]) ** found[n] for n in found)
    shown = ", ".join(f"{name} {slope:.2f}" for name, slope in found.items())
    print(f"a pass at {small}: {base:.2f} CPU s; exponents: {shown}")
    print(f"{IMAGENET} takes {growth:.1f} times as long: {growth * cpu / 3600:.1f} CPU h\n")
    print_intervals(**({"n": 2000, "d": 32, "m": 10} if quick else INTERVALS))
