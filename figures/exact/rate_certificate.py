"""Check certificates for the worst case of Frank-Wolfe with given steps in exact fractions.

Frank-Wolfe minimises f over a convex set from a point x_0 of it, with the steps gamma_0, ..; here
g_i = f'(x_i):

    s_i minimises <g_i, s> over the set,   x_{i+1} = (1 - gamma_i) x_i + gamma_i s_i.

Theorem. If `weakness(certificate)` is "", then after t = len(steps) steps

    f(x_t) - f(x*) <= bound * L * D^2

for every convex set of diameter D, of every dimension, every point x* of it, whatever minimisers
s_i are taken, and
* "smooth": every convex f with L-Lipschitz gradients on the whole space,
* "quadratic": every convex quadratic f; L D^2 is then max <s - a, H (s - a)>, the curvature of f.

Proof. Divide f by L D^2 and lengths by D; so L = D = 1. Let g* = f'(x*), and

    h_i = g_i - g*,   phi_i = f(x_i) - f(x*) - <g*, x_i - x*>,   l_v = <g*, v - x*>

for the vertices v: number 0 is x_0, number i + 1 is s_i, number STAR is x*. The following
inequalities always hold:

    smooth i, j     phi_i - phi_j - <h_j, x_i - x_j> - |h_i - h_j|^2 / 2 >= 0
    lmo i, v        <h_i, v - s_i> + l_v - l_{s_i} >= 0
    diameter u, v   1 - |u - v|^2 >= 0

The first is the inequality of smooth convex functions, with h_* = 0 and phi_* = 0 for x*. With
multipliers m_k >= 0 of such inequalities E_k >= 0 the certificate has

    bound - (f(x_t) - f(x*)) = sum_k m_k E_k + (a quadratic form in the vectors h_i and v - x*)

in which f(x_t) - f(x*) = phi_t + <g*, x_t - x*>, and x_t is a convex combination of vertices. The
coefficients of phi_i, l_v and 1 agree, and the form is positive semidefinite. So the right side is
>= 0. For a quadratic f the inner product is <u, H v>, which is semidefinite; there h_i = x_i - x*
and phi_i = |x_i - x*|^2 / 2, and the smooth inequalities are not needed. Only the values l_v of
<g*, .> are used, so g* need not be H times a vector.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

# the point x*, among the iterates 0 .. t and among the vertices 0 .. t
STAR = -1
ONE = ("one", 0)  # the constant 1

Symbol = tuple[str, int]
Vector = Mapping[Symbol, Fraction]  # a combination of symbols, or of the vectors v - x* and h_i
Matrix = list[list[Fraction]]


class Inequality(NamedTuple):
    """One inequality of the theorem: its name, and the two numbers that follow it."""

    kind: str
    first: int
    second: int


@dataclass(frozen=True)
class RateCertificate:
    """A claimed proof: the steps gamma_0, .., the bound in units of L D^2, the multipliers."""

    steps: tuple[Fraction, ...]
    bound: Fraction
    multipliers: Mapping[Inequality, Fraction]
    functions: str = "smooth"


@dataclass(frozen=True)
class Expression:
    """A linear form in phi_i, l_v and 1, plus a quadratic form in the vectors v - x* and h_i.

    A key (a, b) of the quadratic form is the product of two vectors, in either order.
    """

    linear: defaultdict[Symbol, Fraction]
    quadratic: defaultdict[tuple[Symbol, Symbol], Fraction]

    def add(self, other: "Expression", factor: Fraction) -> None:
        """Add `factor` times another expression to this one."""
        for name, number in other.linear.items():
            self.linear[name] += factor * number
        for pair, number in other.quadratic.items():
            self.quadratic[pair] += factor * number


# --- the inequalities ----------------------------------------------------------------------------


def expression(steps: tuple[Fraction, ...], functions: str, named: Inequality) -> Expression:
    """Return the expression that an inequality of the theorem says is at least 0."""
    kind, i, j = named
    if kind == "diameter":
        apart = difference(vertex(i), vertex(j))
        return made({ONE: Fraction(1)}, (-1, apart, apart))
    if kind == "lmo":
        away = difference(vertex(j), vertex(i + 1))
        return made(slope(away), (1, gradient(steps, functions, i), away))
    hi, hj = gradient(steps, functions, i), gradient(steps, functions, j)
    apart, turn = difference(iterate(steps, i), iterate(steps, j)), difference(hi, hj)
    values = difference(value(i), value(j))
    return made(values, (-1, hj, apart), (Fraction(-1, 2), turn, turn))


def error(steps: tuple[Fraction, ...], functions: str) -> Expression:
    """Return f(x_t) - f(x*)."""
    last = iterate(steps, len(steps))
    if functions == "quadratic":
        return made(slope(last), (Fraction(1, 2), last, last))
    return made({**value(len(steps)), **slope(last)})


def vertex(number: int) -> Vector:
    """Return v - x* for a vertex v."""
    return {} if number == STAR else {("vertex", number): Fraction(1)}


def iterate(steps: tuple[Fraction, ...], number: int) -> Vector:
    """Return x_i - x*, a combination of vertices."""
    if number == STAR:
        return {}
    found: dict[Symbol, Fraction] = {}
    left = Fraction(1)
    for i in reversed(range(number)):
        found["vertex", i + 1] = left * steps[i]
        left *= 1 - steps[i]
    return {name: part for name, part in {**found, ("vertex", 0): left}.items() if part}


def gradient(steps: tuple[Fraction, ...], functions: str, number: int) -> Vector:
    """Return h_i."""
    if functions == "quadratic":
        return iterate(steps, number)
    return {} if number == STAR else {("gradient", number): Fraction(1)}


def value(number: int) -> Vector:
    """Return phi_i."""
    return {} if number == STAR else {("phi", number): Fraction(1)}


def slope(vector: Vector) -> dict[Symbol, Fraction]:
    """Return <g*, vector>, for a combination of vertices."""
    return {("l", number): part for (_, number), part in vector.items()}


def difference(left: Vector, right: Vector) -> Vector:
    """Return left - right."""
    names = {**left, **right}
    return {name: left.get(name, Fraction(0)) - right.get(name, Fraction(0)) for name in names}


def made(linear: Vector, *products: tuple[Fraction | int, Vector, Vector]) -> Expression:
    """Return the linear form plus the sum of factor * <left, right> over the products."""
    quadratic: defaultdict[tuple[Symbol, Symbol], Fraction] = defaultdict(Fraction)
    for factor, left, right in products:
        for a, x in left.items():
            for b, z in right.items():
                quadratic[(a, b) if a <= b else (b, a)] += factor * x * z
    return Expression(defaultdict(Fraction, linear), quadratic)


# --- as data -------------------------------------------------------------------------------------


def as_data(certificate: RateCertificate) -> dict[str, Any]:
    """Return the certificate as strings, lists and dicts, for a JSON file."""
    return {
        "steps": [str(step) for step in certificate.steps],
        "bound": str(certificate.bound),
        "multipliers": {" ".join(map(str, k)): str(x) for k, x in certificate.multipliers.items()},
        "functions": certificate.functions,
    }


# --- the check -----------------------------------------------------------------------------------


def is_proof(certificate: RateCertificate) -> bool:
    """Return whether the certificate proves its bound."""
    return not weakness(certificate)


def weakness(certificate: RateCertificate) -> str:
    """Return why the certificate proves nothing, or "" if it proves its bound."""
    malformed = malformation(certificate)
    if malformed:
        return malformed
    for named, multiplier in certificate.multipliers.items():
        if multiplier < 0:
            return f"the multiplier of {shown(named)} is negative"
    left = remainder(certificate)
    for name, number in left.linear.items():
        if number != 0:
            return f"the coefficients of {name[0]} {name[1]} differ by {number}"
    return "" if is_semidefinite(matrix(left)) else "the matrix is not positive semidefinite"


def malformation(certificate: RateCertificate) -> str:
    """Return the defect of a certificate's parts, or ""."""
    numbers = (*certificate.steps, certificate.bound, *certificate.multipliers.values())
    if not all(isinstance(number, Fraction) for number in numbers):
        return "a number is not a Fraction"
    if certificate.functions not in ("smooth", "quadratic"):
        return "there are two kinds of functions, smooth and quadratic"
    if not certificate.steps or not all(0 <= step <= 1 for step in certificate.steps):
        return "the steps are not numbers from 0 to 1"
    unknown = [k for k in certificate.multipliers if not is_inequality(k, certificate)]
    return f"{shown(unknown[0])} is not an inequality of the theorem" if unknown else ""


def is_inequality(named: Inequality, certificate: RateCertificate) -> bool:
    """Return whether the theorem has an inequality of this name for this number of steps."""
    kind, i, j = named
    t = len(certificate.steps)
    if kind == "lmo":
        return 0 <= i < t and STAR <= j <= t
    if kind == "smooth":
        return certificate.functions == kind and STAR <= i <= t and STAR <= j <= t
    return kind == "diameter" and STAR <= i <= t and STAR <= j <= t


def shown(named: Inequality) -> str:
    """Return an inequality as readable text."""
    return " ".join("*" if part == STAR else str(part) for part in named)


def remainder(certificate: RateCertificate) -> Expression:
    """Return bound - (f(x_t) - f(x*)) - sum_k m_k E_k."""
    steps, functions = certificate.steps, certificate.functions
    left = made({ONE: certificate.bound})
    left.add(error(steps, functions), Fraction(-1))
    for named, multiplier in certificate.multipliers.items():
        left.add(expression(steps, functions, named), -multiplier)
    return left


def matrix(form: Expression) -> Matrix:
    """Return the symmetric matrix of the quadratic form."""
    names = sorted({name for pair in form.quadratic for name in pair})
    place = {name: row for row, name in enumerate(names)}
    rows = [[Fraction(0)] * len(names) for _ in names]
    for (a, b), number in form.quadratic.items():
        rows[place[a]][place[b]] += number / 2
        rows[place[b]][place[a]] += number / 2
    return rows


def is_semidefinite(symmetric: Matrix) -> bool:
    """Return whether a symmetric matrix is positive semidefinite, by its LDL^T factors."""
    rows = [list(row) for row in symmetric]
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot < 0 or (pivot == 0 and any(pivot_row[k:])):
            return False
        for row in rows[k + 1 :] if pivot else ():
            factor = row[k] / pivot
            if factor:
                row[k:] = [x - factor * z for x, z in zip(row[k:], pivot_row[k:], strict=True)]
    return True
