"""Formulas in MathML: each claim's is well-formed, and signs, bars and spaces are as in print."""

import re
from xml.etree import ElementTree

import pytest

from paper_checks.report.mathml import display, inline, prose
from paper_checks.run import claims

FORMULAS = sorted({claim.formula for claim in claims() if claim.formula})


def text(formula):
    """Return the characters of a formula, as a reader would copy them."""
    root = ElementTree.fromstring(f"<all>{display(formula)}</all>")
    return "".join(root.itertext()).replace("\N{NO-BREAK SPACE}", " ")


def first(formula, sign):
    """Return the attributes of the operators that show this sign, in order."""
    root = ElementTree.fromstring(f"<all>{display(formula)}</all>")
    return [mark.attrib for mark in root.iter("mo") if mark.text == sign]


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_formula_of_a_claim_is_well_formed(formula):
    root = ElementTree.fromstring(f"<all>{display(formula)}</all>")
    assert {child.tag for child in root} == {"math"}
    sizes = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2}
    sizes |= {"msubsup": 3, "munderover": 3, "msqrt": 1}
    for part in root.iter():
        assert len(part) == sizes.get(part.tag, len(part)), ElementTree.tostring(part)
        assert part.tag not in ("mi", "mn", "mo", "mtext") or part.text
    letters = re.sub(r"\\[A-Za-z]+|[^A-Za-z]", "", formula)
    assert [c for c in text(formula) if c.isascii() and c.isalpha()] or not letters


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\phi_k(a)<\phi(a)", "ϕk(a)<ϕ(a)"),
        (r"\{v:\langle v,1\rangle=0\}", "{v:⟨v,1⟩=0}"),
        (r"\arg\max_{a}D", "arg\N{THIN SPACE}maxaD"),
        (r"D\ \mathrm{has\ the\ Hessian}\ K", "D has the Hessian K"),
        (r"\sqrt[\bar p]{1/c}", "1/cp¯"),
        (r"\rho'_\ell", "ρ′ℓ"),
        (r"W\in\mathbb{R}^{d\times n}", "W∈ℝd×n"),
        (r"\Vert w\Vert^2\leq 0.5m!", "‖w‖2≤0.5m!"),
        (r"\left\{k\,t\right.", "{kt"),
        (r"s^{\backslash y}", r"s\y"),
    ],
)
def test_characters(formula, shown):
    assert text(formula).replace(" ", "") == shown.replace(" ", "")


@pytest.mark.parametrize(
    ("formula", "forms"),
    [
        ("-a", ["prefix"]),
        ("a-b", [None]),
        ("a=-b", ["prefix"]),
        ("a(-b)-c", ["prefix", None]),
        (r"a\in-B", ["prefix"]),
        (r"\sup_a-b", ["prefix"]),
        (r"\|a\|-b", [None]),
        (r"a,\ -b", ["prefix"]),
    ],
)
def test_a_minus_is_a_sign_or_an_operation(formula, forms):
    assert [found.get("form") for found in first(formula, "−")] == forms


@pytest.mark.parametrize(
    ("formula", "forms"),
    [
        ("|U|<k", "prefix postfix"),
        ("E|g|^p", "prefix postfix"),
        (r"(k-|U|)^2+(|U|+r)|M|", "prefix postfix prefix postfix prefix postfix"),
        (r"|a+|b||", "prefix prefix postfix postfix"),
    ],
)
def test_a_bar_opens_or_closes(formula, forms):
    assert " ".join(found["form"] for found in first(formula, "|")) == forms


def test_a_bar_between_spaces_is_a_relation():
    assert "form" not in first(r"\{a\,|\,b\}", "|")[0]


def test_limits_stand_below_in_a_display():
    assert display(r"\max_{a}D") == (
        '<math displaystyle="true"><munder><mo movablelimits="true" lspace="0" rspace="0">max</mo>'
        '<mi>a</mi></munder><mspace width=".17em"/><mi>D</mi></math>'
    )


def test_wide_spaces_are_where_a_page_may_break():
    assert display(r"a,\quad b,\ c").count("<math") == 3
    assert display(r"\{a,\ b\}").count("<math") == 1


def test_text_around_formulas_is_escaped():
    assert prose("a < b & $x<y$") == f"a &lt; b &amp; {inline('x<y')}"
    assert "<mo>&lt;</mo>" in inline("x<y")
    assert prose(r"$\mathrm{a<b&c}$") == "<math><mtext>a&lt;b&amp;c</mtext></math>"


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (r"\nonsense", r"\\nonsense is not known"),
        (r"\frac{1}", "it ends too early"),
        ("a_{b", "} is missing before the end"),
        ("a}", "} is not known"),
        ("a_b_c", "two scripts _"),
        (r"\mathbb{X}", "not known"),
        (r"\mathrm{\frac}", "among upright words"),
        (r"\left a\right)", "a is no bracket"),
        (r"\left(a", r"\\right is missing"),
    ],
)
def test_what_cannot_be_read_is_told(formula, said):
    with pytest.raises(ValueError, match=said):
        display(formula)


def test_a_dollar_sign_needs_its_other_one():
    with pytest.raises(ValueError, match="dollar"):
        prose("costs $5")
