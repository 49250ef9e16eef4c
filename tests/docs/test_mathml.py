"""Formulas in MathML: well-formed, spaced as in print, and what is left is told."""

import re
from xml.etree import ElementTree

import pytest

from fwlab.docs.mathml import display, inline, prose
from paper_checks.run import claims


def formulas():
    """Yield the formulas of all claims: as printed, of their versions and in their errata."""
    for claim in claims():
        yield claim.formula
        yield from (other.formula for other in claim.versions.values())
        if (note := claim.erratum) is not None:
            yield from (note.printed, note.correct)
            for part in (note.proof, note.breaks):
                yield from part.split("$")[1::2]


FORMULAS = sorted({formula for formula in formulas() if formula})


def text(formula, shown=display):
    """Return the characters of a formula, as a reader would copy them."""
    root = ElementTree.fromstring(f"<all>{shown(formula)}</all>")
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
    assert "\\" not in text(formula).replace("\\", "", formula.count(r"\backslash"))
    assert text(formula, inline) == text(formula)


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\phi_k(a)<\phi(a)", "ϕk(a)<ϕ(a)"),
        (r"\{v:\langle v,1\rangle=0\}", "{v:⟨v,1⟩=0}"),
        (r"\operatorname{argmax}_{a}D", "argmaxaD"),
        ("a:=b", "a≔b"),
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
    "formula",
    ["|U|<k", "E|g|^p", r"(k-|U|)^2+(|U|+r)|M|", r"|a+|b||", r"v:\ |w|", "x_{|U|}"],
)
def test_a_bar_stands_close_to_what_it_encloses(formula):
    found = first(formula, "|")
    assert found and all(mark["lspace"] == mark["rspace"] == "0" for mark in found)


def test_a_bar_between_spaces_is_a_relation():
    assert "lspace" not in first(r"\{a\,|\,b\}", "|")[0]


def test_limits_stand_below_in_a_display():
    assert display(r"\max_{a}D") == (
        '<math displaystyle="true"><mrow><munder><mo lspace="0" rspace="0.17em">max</mo>'
        "<mrow><mi>a</mi></mrow></munder><mi>D</mi></mrow></math>"
    )
    assert "<msub><mo" in inline(r"\max_{a}D")


def test_names_stand_apart_from_letters_and_close_to_brackets():
    [name] = first(r"c\max(a,b)", "max")
    assert (name["lspace"], name["rspace"]) == ("0.17em", "0")
    [name] = first(r"(\log m)", "log")
    assert (name["lspace"], name["rspace"]) == ("0", "0.17em")


def test_operators_in_scripts_stand_close():
    [inside] = first(r"x_{a\in B}", "∈")
    assert inside["lspace"] == inside["rspace"] == "0" and first(r"a\in B", "∈") == [{}]


def test_a_prime_is_no_script():
    assert "<msup>" not in display("a'") and "<msup>" not in display(r"\rho'_\ell")


def test_wide_spaces_are_where_a_page_may_break():
    assert display(r"a,\quad b,\ c").count("<math") == 3
    assert display(r"\{a,\ b\}").count("<math") == 1


def test_no_formula_is_no_element():
    assert display("") == inline("") == ""


def test_text_around_formulas_is_escaped():
    assert prose("a < b & $x<y$") == f"a &lt; b &amp; {inline('x<y')}"
    assert "<mo>&lt;</mo>" in inline("x<y")
    assert prose(r"$a\&b$") == "<math><mrow><mi>a</mi><mi>&amp;</mi><mi>b</mi></mrow></math>"


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (r"\nonsense", r"\\nonsense is not known in \$\\nonsense\$"),
        (r"\arg\max_a D", r"\\arg is not known"),
        (r"x_{\foo{a}}", r"\\foo is not known"),
        (r"\frac{1}", r"something is missing in \$\\frac\{1\}\$"),
        (r"\mathrm{\frac}", "something is missing"),
        ("a_{b", "a brace without its other one"),
        ("a}", "a brace without its other one"),
        ("a_b_c", "ends with DoubleSubscriptsError"),
        ("a^", "ends with MissingSuperScriptOrSubscriptError"),
        (r"\mathrm{a&b}", "ends with ParseError"),
        (r"\left a\right)", "a is no bracket"),
        (r"\left(a", "ends with ExtraLeftOrMissingRightError"),
        (r"a\quad\frac", "ends with NoAvailableTokensError"),
    ],
)
def test_what_cannot_be_read_is_told(formula, said):
    with pytest.raises(ValueError, match=said):
        display(formula)


def test_a_dollar_sign_needs_its_other_one():
    with pytest.raises(ValueError, match="dollar"):
        prose("costs $5")
