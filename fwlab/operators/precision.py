"""Choose the types in which products with tensors are made, from the fastest one on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Precision:
    """A floating type of the array API, and whether products may round float32 to fewer digits."""

    dtype: str
    rounds_products: bool = False


# tf32 on NVIDIA's devices: factors of 11 bits, sums in float32
TF32 = Precision("float32", rounds_products=True)
SINGLE, DOUBLE = Precision("float32"), Precision("float64")


def precisions_of(device: Any) -> tuple[Precision, ...]:
    """Return the precisions for steps on a device, from the fastest to the most exact."""
    return (TF32, SINGLE, DOUBLE) if _is_cuda(device) else (SINGLE, DOUBLE)


@contextmanager
def products_of(device: Any, precision: Precision) -> Iterator[None]:
    """Make products of float32 on a device as the precision says; restore torch's setting."""
    if not _is_cuda(device):
        yield
        return
    import torch

    settings = torch.backends.cuda.matmul
    # releases of torch before 2.9 have a flag in its place
    name = "fp32_precision" if hasattr(settings, "fp32_precision") else "allow_tf32"
    as_text = name == "fp32_precision"
    value: Any = precision.rounds_products
    before = getattr(settings, name)
    setattr(settings, name, ("tf32" if value else "ieee") if as_text else value)
    try:
        yield
    finally:
        setattr(settings, name, before)


def require_subnormals(xp: Any, device: Any) -> None:
    """Raise RuntimeError if a device takes the smallest numbers for 0, which no bound counts."""
    smallest = xp.asarray([2.0**-140], dtype=xp.float32, device=device)
    halved = 0.5 * xp.asarray([2.0**-1022], dtype=xp.float64, device=device)
    if not (float(xp.asarray(smallest, dtype=xp.float64)[0]) > 0 and float(halved[0]) > 0):
        raise RuntimeError(
            "subnormal numbers must not be flushed to 0 while fwlab certifies; call "
            "torch.set_flush_denormal(False)."
        )


def _is_cuda(device: Any) -> bool:
    return str(device).startswith("cuda")
