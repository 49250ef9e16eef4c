"""Train and certify heads where their features are: `lbfgs` and `certify` on a device, with torch.

The features are synthetic: class means SEPARATION N(0, I) plus N(0, I), float32 rows of length 1.
A line is one run to a certified relative gap of 1e-4. "steps" are the seconds of the method, with
X^T X and its inverse, "certificates" the rest of the call; "at most" are the iterations that
each precision made. Every certificate is made in float64. Beside the table stand the rates of the
device, the errors of its exp, log and log1p against ball arithmetic, certificates beside
numpy's, and X in the memory of the host.

    python -m figures.benchmarks.device [--quick] [--out RECORD.json]

It takes at most four minutes on a device of 2023, and --quick runs on a CPU.
"""

import argparse
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line
from fwlab.certificate import certificate_of
from fwlab.operators.host_rows import HostRows
from fwlab.operators.precision import SINGLE, TF32, Precision, precisions_of, products_of
from fwlab.provenance import provenance
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.tensor_certificate import certificate_of_machines, dual_point, machine_terms

SEPARATION = 0.25
SIZES = ((49_152, 768, 1000), (1_277_952, 2048, 1000))
QUICK = ((2048, 32, 20),)
CS = (1.0, 100.0, 1e4)
TOL, LIMIT = 1e-4, 30.0
POINTS, SMALL_RUNS = 10**6, 1000


def main() -> int:
    """Print the tables, and write the record if a file is given."""
    parser = argparse.ArgumentParser(prog="python -m figures.benchmarks.device")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a CPU")
    parser.add_argument("--out", type=Path, help="where the record is written, as JSON")
    parser.add_argument("--device", default=None, help="cuda if there is one, or cpu")
    given = parser.parse_args()
    record = measured(given.quick, given.device)
    if given.out is not None:
        given.out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return 0


def run(quick: bool) -> None:
    """Print the tables."""
    measured(quick)


def measured(quick: bool, device: str | None = None) -> dict[str, Any]:
    """Return the record of all parts, each printed as soon as it is ready.

    Raises ImportError without torch.
    """
    try:
        import torch
    except ImportError:
        raise ImportError("device needs torch: pip install 'fwlab[torch]'.") from None
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    began, record = time.perf_counter(), {"machine": machine(torch, device)}
    print(f"{record['machine']}\n", flush=True)
    record["rates"] = shown("rates", rates(torch, device, quick))
    record["functions"] = shown("functions", function_errors(torch, device, quick))
    record["small runs"] = shown("small runs", small_runs(torch, device, quick))
    record["heads"] = heads(torch, device, QUICK if quick else SIZES)
    record["seconds"] = shown("seconds", time.perf_counter() - began)
    return record


def shown(name: str, value: Any) -> Any:
    """Print a part of the record and return it."""
    print(f"{name}: {value}\n", flush=True)
    return value


def machine(torch: Any, device: str) -> str:
    """Return a sentence about the device, the versions and the date."""
    cuda = device.startswith("cuda")
    name = torch.cuda.get_device_name(device) if cuda else platform.processor() or "CPU"
    versions = f"torch {torch.__version__}, numpy {np.__version__}, fwlab {provenance()['fwlab']}"
    return f"{name}; {versions}; {datetime.now(UTC):%Y-%m-%d}"


def seconds_of(torch: Any, call: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median wall time of a call, after one that warms up."""
    times = []
    for _ in range(repeats + 1):
        synchronize(torch)
        began = time.perf_counter()
        call()
        synchronize(torch)
        times.append(time.perf_counter() - began)
    return median(times[1:])


def synchronize(torch: Any) -> None:
    """Wait for the device."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def rates(torch: Any, device: str, quick: bool) -> dict[str, float]:
    """Return TF/s of square products in each precision, and GB/s of copies."""
    side, found = 256 if quick else 8192, {}
    for precision in precisions_of(device):
        A = torch.rand(side, side, dtype=getattr(torch, precision.dtype), device=device)
        with products_of(device, precision):
            seconds = seconds_of(torch, lambda A=A: A @ A)
        found[f"{named(precision)} TF/s"] = 2e-12 * side**3 / seconds
    count = 10**6 if quick else 2**28
    host = torch.empty(count, pin_memory=device.startswith("cuda"))
    there = torch.empty(count, device=device)
    copies = {"device": lambda: there.clone(), "bus": lambda: there.copy_(host)}
    for name, copy in copies.items():
        found[f"{name} GB/s"] = (
            4e-9 * count * (2 if name == "device" else 1) / seconds_of(torch, copy)
        )
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def named(precision: Precision) -> str:
    """Return the name of a precision in the tables."""
    return "tf32" if precision == TF32 else precision.dtype


def function_errors(torch: Any, device: str, quick: bool) -> dict[str, float] | str:
    """Return the largest errors of exp, log and log1p in ulp, over random and hard points."""
    try:
        import flint
    except ImportError:
        return "not measured: python-flint is not installed"
    rng, count = np.random.default_rng(0), 1000 if quick else POINTS
    sizes = -np.exp(rng.uniform(-40, np.log(745), count))
    points = {"exp": sizes, "log": np.exp(rng.uniform(-700, 700, count))}
    points["log1p"] = np.where(rng.random(count) < 0.5, np.exp(sizes), np.expm1(sizes))
    flint.ctx.prec = 100
    return {name: ulps(torch, device, name, x, flint) for name, x in points.items()}


def ulps(torch: Any, device: str, name: str, points: np.ndarray, flint: Any) -> float:
    """Return the largest error of a function over points (n,), in units in the last place."""
    found = getattr(torch, name)(torch.asarray(points, device=device)).cpu().numpy()
    worst = 0.0
    for x, value in zip(points.tolist(), found.tolist(), strict=True):
        true = getattr(flint.arb(x), name)()
        error = abs(float(flint.arb(value) - true))
        worst = max(worst, error / max(float(np.spacing(abs(float(true)))), 2.0**-1074))
    return float(f"{worst:.3g}")


def small_runs(torch: Any, device: str, quick: bool) -> str:
    """Compare certificates of random machines with numpy's, at the same dual point."""
    rng, worst = np.random.default_rng(1), 0.0
    count = 20 if quick else SMALL_RUNS
    for _ in range(count):
        n, d, m = rng.integers(2, (40, 12, 8))
        X = (rng.normal(size=(n, d)) * 10 ** rng.uniform(-3, 3)).astype(rng.choice(["f4", "f8"]))
        y, C = rng.integers(0, m, n), 10 ** rng.uniform(-4, 4)
        omega = rng.choice([0.0, 0.5, 1.0, 3.0], n) + (np.arange(n) == 0)
        settings = {"C": C, "n_classes": int(m), "sample_weight": omega}
        loss, W = fwlab.CrossEntropy(), rng.normal(size=(m, d)) * 10 ** rng.uniform(-4, 2)
        there = fwlab.Problem(torch.asarray(X, device=device), y, loss, **settings)
        here = fwlab.Problem(X.astype(np.float64), y, loss, **settings)
        terms = machine_terms(there, W)
        found = certificate_of_machines(there, terms, terms)
        A = dual_point(there, W).cpu().numpy()
        expected = certificate_of(here, A, W)
        allowed = found.gap_error + expected.gap_error
        worst = max(worst, abs(found.gap - expected.gap) / allowed)
    return f"{count} gaps differ by at most {worst:.2g} of both gap_errors"


def features(torch: Any, device: str, n: int, d: int, m: int) -> tuple[Any, Any]:
    """Return X (n, d), float32 rows of length 1, and labels y (n,)."""
    generator = torch.Generator(device=device).manual_seed(0)
    options = {"generator": generator, "device": device}
    means = SEPARATION * torch.randn(m, d, **options)
    y = torch.randint(m, (n,), **options)
    X = torch.randn(n, d, **options)
    for start in range(0, n, 2**16):
        rows = slice(start, start + 2**16)
        X[rows] += means[y[rows]]
        X[rows] /= torch.linalg.vector_norm(X[rows], dim=1, keepdim=True)
    return X, y


def heads(torch: Any, device: str, sizes: Any) -> list[dict[str, Any]]:
    """Print a line for each size and constant, and return the lines."""
    header = ("n x d x m", "C", "wall", "steps", "certificates", "iterations", "gap / P", "status")
    print_line(header)
    print_line("---" for _ in header)
    found = []
    for size in sizes:
        X, y = features(torch, device, *size)
        for C in CS:
            row = {"size": size, "C": C, **head(torch, X, y, C)}
            found.append(row)
            cells = (f"{row[name]:.2f}" for name in ("wall", "steps", "certificates"))
            used = ", ".join(f"{count} {name}" for name, count in row["iterations"].items())
            shape = " x ".join(map(str, size))
            print_line((shape, f"{C:g}", *cells, used, f"{row['gap']:.1e}", row["status"]))
        found.append({"size": size, **streamed(torch, X, y)})
        print(f"\n{found[-1]}\n", flush=True)
    return found


def head(torch: Any, X: Any, y: Any, C: float) -> dict[str, Any]:
    """Return the seconds of a run to TOL, and its iterations in each precision."""
    used: Counter[str] = Counter()

    def count(progress: Any) -> None:
        used[named(progress.state.precisions[0])] += 1

    problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=C)
    synchronize(torch)
    result = fwlab.solve(problem, "lbfgs", tol=TOL, relative=True, time_limit=LIMIT, callback=count)
    return {
        "wall": result.wall_seconds,
        "steps": result.seconds,
        "certificates": result.wall_seconds - result.seconds,
        "iterations": dict(used),
        "gap": result.gap / result.primal,
        "gap_error": result.gap_error / result.primal,
        "status": result.status.name,
    }


def streamed(torch: Any, X: Any, y: Any) -> dict[str, float]:
    """Return seconds of an evaluation in each precision, and from the memory of the host."""
    loss, device = fwlab.CrossEntropy(), X.device
    W = torch.zeros(int(y.max()) + 1, X.shape[1], dtype=torch.float64, device=device)
    problem = fwlab.Problem(X, y, loss, C=1.0)
    found = {
        named(p): seconds_of(torch, lambda p=p: TensorPoint.at(problem, W, p))
        for p in precisions_of(device)
    }
    found["certificate"] = seconds_of(torch, lambda: machine_terms(problem, W), 1)
    n = min(len(X), 2**18)
    part = fwlab.Problem(
        HostRows(X[:n].cpu().numpy(), device), y[:n], loss, C=1.0, n_classes=len(W)
    )
    found["from the host"] = seconds_of(torch, lambda: TensorPoint.at(part, W, SINGLE), 1)
    found["GB of it"] = 4e-9 * n * X.shape[1]
    return {name: float(f"{value:.3g}") for name, value in found.items()}


if __name__ == "__main__":
    sys.exit(main())
