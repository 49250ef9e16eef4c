"""One expression in three arithmetics: it means the same in fractions, floats and symbols."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from paper_checks import arithmetic, definitions
from paper_checks.arithmetic import Undefined, divide, side_conditions, where
from paper_checks.search import substituted
from paper_checks.symbols import Symbol, reals
from reference import exact

NUMBERS = st.fractions(-3, 3, max_denominator=3)
VECTORS = st.lists(NUMBERS, min_size=2, max_size=4)
K = st.integers(1, 4)


def at(expression, symbols, numbers):
    """Evaluate an expression in symbols at numbers."""
    values = {symbol.term: Fraction(x) for symbol, x in zip(symbols, numbers, strict=True)}
    return substituted(expression, values) if isinstance(expression, Symbol) else expression


EXPRESSIONS = {
    "maximum": lambda v, k: arithmetic.maximum(*v),
    "minimum": lambda v, k: arithmetic.minimum(*v),
    "absolute": lambda v, k: arithmetic.absolute(v[0] - 1),
    "positive_part": lambda v, k: arithmetic.positive_part(2 * v[0] - v[1] / 3),
    "largest_sum": arithmetic.largest_sum,
    "kth_largest": arithmetic.kth_largest,
    "descending": lambda v, k: arithmetic.inner(range(len(v)), arithmetic.descending(v)),
    "pick": lambda v, k: arithmetic.pick(v, k - 1) ** 2,
    "where": lambda v, k: where(arithmetic.implies(v[0] < v[1], v[1] > 1), v[0], 1 - v[1]),
    "equals": lambda v, k: where(arithmetic.equals(v[0], v[1]), 1, 0),
    "any_of": lambda v, k: where(arithmetic.any_of(*(x >= 1 for x in v)), v[0], 0),
    "top_k": lambda v, k: definitions.top_k(definitions.margins(v, 0), k),
    "usunier": lambda v, k: definitions.usunier(definitions.margins(v, 1), k),
    "weighted": lambda v, k: definitions.weighted_usunier(
        v, [Fraction(1, j + 1) for j in range(len(v))]
    ),
}


@pytest.mark.turns
@pytest.mark.parametrize("name", EXPRESSIONS)
@given(numbers=VECTORS, k=K)
def test_an_expression_in_symbols_has_the_value_of_the_one_in_fractions(name, numbers, k):
    k, expression = min(k, len(numbers)), EXPRESSIONS[name]
    symbols = reals("v", len(numbers))
    assert at(expression(symbols, k), symbols, numbers) == expression(numbers, k)


@given(numbers=VECTORS, k=K, y=st.integers(0, 1))
def test_the_losses_are_those_of_the_reference(numbers, k, y):
    k, m = min(k, len(numbers)), len(numbers)
    h = definitions.margins(numbers, y)
    rho = tuple(Fraction(1, j + 1) for j in range(m))
    pairs = [
        (definitions.max_hinge(h), reference.MaxHinge()),
        (definitions.top_k(h, k), reference.TopK(k)),
        (definitions.usunier(h, k), reference.Usunier(k)),
        (definitions.weighted_top_k(h, rho), reference.WeightedTopK(rho)),
        (definitions.weighted_usunier(h, rho), reference.WeightedUsunier(rho)),
    ]
    if k < m:
        pairs.append((definitions.pseudo_top_k(h, y, k), reference.PseudoTopK(k)))
    for found, loss in pairs:
        assert found == exact.value(loss, numbers, y)


@given(numbers=VECTORS, k=K)
def test_the_simplices_are_the_domains_of_the_losses(numbers, k):
    """phi*(b), with the entry of y free, is finite exactly on them."""
    k, b = min(k, len(numbers)), [abs(x) / 4 for x in numbers]
    for loss, inside in (
        (reference.TopK(k), definitions.in_topk_simplex(b, k)),
        (reference.Usunier(k), definitions.in_usunier_simplex(b, k)),
        (reference.MaxHinge(), definitions.in_simplex(b)),
    ):
        pieces = exact.pieces(loss, len(b), 0, centred=False)
        assert inside == (exact.conjugate_of_maximum(pieces, b) != float("inf"))


def test_admissible_weights():
    assert definitions.admissible((2, 1, 1, 0))
    assert not definitions.admissible((1, 2))
    assert not definitions.admissible((1, -1))


# ---------------------------------------------------------------- what Python alone would get wrong


@pytest.mark.parametrize(
    "question",
    [
        lambda s: max(s),
        lambda s: sorted(s),
        lambda s: bool(s[0] <= s[1]),
        lambda s: 1 if s[0] > 0 else 2,
        lambda s: s[0] == s[1],
        lambda s: s[0] in (1, 2),
        lambda s: not s[0],
        lambda s: s[0] < 1 and s[1] < 1,
        lambda s: {s[0]},
        lambda s: float(s[0]),
        lambda s: s[0] + 0.5,
        lambda s: s[0] * True,
        lambda s: s[0] ** 0.5,
        lambda s: s[0] ** -1,
    ],
)
def test_what_needs_the_value_of_a_symbol_raises(question):
    with pytest.raises(TypeError):
        question(reals("s", 2))


def test_a_quotient_by_zero_is_undefined():
    with pytest.raises(Undefined, match="1 / 0"):
        divide(1, 0)
    with pytest.raises(Undefined):
        divide(Fraction(2), Fraction(0), zero_over_zero=0)
    assert divide(1, 3) == Fraction(1, 3) and divide(1.0, 4) == 0.25


def test_the_convention_for_zero_over_zero_is_counted():
    with side_conditions() as conditions:
        assert divide(0, 0, zero_over_zero=Fraction(7)) == 7
        assert divide(1, 2, zero_over_zero=Fraction(7)) == Fraction(1, 2)
    assert conditions.conventions == 1


def test_a_symbolic_quotient_adds_its_side_condition():
    a, b = symbols = reals("a", 2)
    with side_conditions() as conditions:
        quotient, by_convention = divide(a, b), divide(a, b, zero_over_zero=Fraction(7))
    strict, lenient = conditions.defined
    for numbers, defined, allowed in (((1, 2), 1, 1), ((1, 0), 0, 0), ((0, 0), 0, 1)):
        assert at(where(strict, 1, 0), symbols, numbers) == defined
        assert at(where(lenient, 1, 0), symbols, numbers) == allowed
    assert at(quotient, symbols, (1, 2)) == Fraction(1, 2)
    assert at(by_convention, symbols, (0, 0)) == 7


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_out_of_range_is_undefined(index):
    with pytest.raises(Undefined):
        arithmetic.pick((1, 2), index)
    for k in (index + 1 if index > 0 else 0, 3):
        with pytest.raises(Undefined):
            arithmetic.kth_largest((1, 2), k)
    with pytest.raises(Undefined):
        arithmetic.largest_sum((1, 2), 3)
