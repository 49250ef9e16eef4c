"""Write the proved rates of Frank-Wolfe that fwlab shows beside runs to a data file of the package.

`python -m figures.exact.rates` proves them again and writes fwlab/experiments/rates.json. The
numbers are strings of fractions: h_t <= constant C / (t + shift) after t >= 1 steps, where h_t is
the error of the dual and C its curvature on the domain.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from figures.exact.rate_recurrence import (
    prove_for_all_steps,
    prove_for_every_numerator,
    usual_constant,
)
from fwlab.files import write_text_atomically

ROOT = Path(__file__).parents[2]
FILE = ROOT / "fwlab" / "experiments" / "rates.json"
# the ell of open-loop steps ell / (t + ell - 1), t = 1, 2, ..
ELLS = (2, 3, 4, 5, 6)


def proved_rates() -> dict[str, Any]:
    """Return the rates by step rule, each with its constant and its shift.

    An exact line search makes at least the progress of the open-loop step with ell = 2, from any
    point, and ell = 2 has the smallest constant. Raises RuntimeError if a proof fails.
    """
    if not prove_for_every_numerator():
        raise RuntimeError("the rate of open-loop steps is not proved")
    rates = {}
    for ell in ELLS:
        constant = Fraction(usual_constant(Fraction(ell)))
        if not prove_for_all_steps(ell, ell - 1, constant, ell):
            raise RuntimeError(f"the rate of open-loop steps with ell = {ell} is not proved")
        rates[f"open-loop {ell}"] = {"constant": str(constant), "shift": str(ell)}
    return {
        "written by": "python -m figures.exact.rates",
        "statement": "h_t <= constant C / (t + shift) after t >= 1 steps of Frank-Wolfe",
        "rates": {"exact": rates["open-loop 2"], **rates},
    }


def text_of(rates: dict[str, Any]) -> str:
    """Return the text of the file with the rates."""
    return json.dumps(rates, indent=2) + "\n"


if __name__ == "__main__":
    write_text_atomically(FILE, text_of(proved_rates()))
    print(f"wrote {FILE}")
