"""The checker of stored proofs accepts what proves something and rejects every forgery."""

import ast
import copy
import sys
from fractions import Fraction

import pytest

from paper_checks import verify_proofs
from paper_checks.arithmetic import all_of, divide, equals, maximum, negation
from paper_checks.certify.formulas import lines_of
from paper_checks.certify.trees import NoProof, find_tree
from paper_checks.symbols import as_formula, reals
from paper_checks.verify_proofs import weakness

X, Y, Z = reals("x", 3)


def by_cases(formula):
    lines = lines_of(as_formula(formula))
    return {"kind": "cases", "formula": lines, "tree": find_tree(lines)}


def mean_above_maximum(share=Fraction(1, 3)):
    return negation(share * (X + Y + Z) <= maximum(X, Y, Z))


def leaves(tree, path=()):
    """Yield the path and the text of each leaf."""
    if isinstance(tree, str):
        yield path, tree
    else:
        for place in (1, 2):
            yield from leaves(tree[place], (*path, place))


def with_leaf(proof, path, leaf):
    """Return the proof with another tree at the end of a path."""
    forged = copy.deepcopy(proof)
    if not path:
        return {**forged, "tree": leaf}
    tree = forged["tree"]
    for place in path[:-1]:
        tree = tree[place]
    tree[path[-1]] = leaf
    return forged


LINEAR = by_cases(mean_above_maximum())
QUADRATIC = by_cases(all_of(X * Y > 1, X <= 1, Y <= 1, X >= 0))
SQUARES = by_cases(X * X + Y * Y < X * Y)
QUOTIENT = by_cases(all_of(X > 0, negation(equals(divide(X * Y, X), Y))))
WITNESS = {
    "kind": "witness",
    "formula": lines_of(as_formula(mean_above_maximum(Fraction(1, 2)))),
    "at": {"x_1": "1", "x_2": "1", "x_3": "1"},
}
# Frank-Wolfe with the steps 1, 2/3 on quadratic functions, by hand
RATE = {
    "kind": "rate",
    "functions": "quadratic",
    "steps": ["1", "2/3"],
    "bound": "5/18",
    "multipliers": {
        "diameter 0 1": "1/18",
        "diameter 1 2": "2/9",
        "lmo 0 -1": "1/3",
        "lmo 1 -1": "2/3",
    },
}
PROOFS = {"linear": LINEAR, "quadratic": QUADRATIC, "squares": SQUARES, "quotient": QUOTIENT}


@pytest.mark.parametrize("proof", [LINEAR, QUADRATIC, SQUARES, QUOTIENT, WITNESS, RATE])
def test_proofs_are_accepted(proof):
    assert weakness(proof) == ""


# --- forged proofs by cases ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "quadratic", "squares"])
def test_a_changed_multiplier_is_rejected(name):
    changed = 0
    for path, leaf in leaves(PROOFS[name]["tree"]):
        for place, term in enumerate(terms := leaf.split(" ") if leaf else []):
            number, _, factors = term.partition(":")
            for wrong in (Fraction(number) + Fraction(1, 10**9), -Fraction(number), 0):
                forged = [*terms[:place], f"{wrong}:{factors}", *terms[place + 1 :]]
                assert weakness(with_leaf(PROOFS[name], path, " ".join(forged)))
                changed += 1
    assert changed > 5


@pytest.mark.parametrize("name", PROOFS)
def test_a_dropped_case_is_rejected(name):
    dropped = 0
    for path, leaf in leaves(PROOFS[name]["tree"]):
        if leaf:
            assert weakness(with_leaf(PROOFS[name], path, ""))
            dropped += 1
    assert dropped or name == "quotient"
    for subtree in PROOFS[name]["tree"][1:]:
        assert weakness({**PROOFS[name], "tree": subtree})


@pytest.mark.parametrize(
    ("comparisons", "leaf", "reason"),
    [
        ((">= 0 1", ">= 1 0"), "1:0 1:1", "do not contradict"),  # 0 >= 0, at x = 0
        ((">= 0 2", ">= 0 1"), "1:0 -1:1", "not positive"),  # x >= 1 less x >= 0
        ((">= 0 2", ">= 0 1"), "1:0 -1:1=0", "not an equation"),  # as if x were 0
        ((">= 0 2", ">= 0 1"), "1:0 1:1", "do not contradict"),
        ((">= 0 2", ">= 0 1"), "1:q1*x", "do not contradict"),
    ],
)
def test_a_false_reason_is_rejected(comparisons, leaf, reason):
    """The formula is true at some x; without one of the rules a leaf would prove that it is not."""
    formula = ["x a", "c 0", "c 1", *comparisons, "& 3 4"]
    forged = {"kind": "cases", "formula": formula, "tree": [3, [4, leaf, ""], ""]}
    assert reason in weakness(forged)


def test_a_changed_square_is_rejected():
    (leaf,) = [leaf for _, leaf in leaves(SQUARES["tree"]) if leaf]
    assert ":q" in leaf
    for wrong in (leaf.replace(":q", ":q1/9*x_3+"), leaf.replace(":q", ":"), leaf + " 1:q1/9"):
        assert weakness({**SQUARES, "tree": [SQUARES["tree"][0], wrong, SQUARES["tree"][2]]})


def test_a_changed_coefficient_is_rejected():
    for place, line in enumerate(LINEAR["formula"]):
        if line.startswith("c 1/3"):
            formula = [*LINEAR["formula"]]
            formula[place] = "c 1000001/3000000"
            assert weakness({**LINEAR, "formula": formula})
            break
    else:
        pytest.fail("the formula has no 1/3")


def test_exchanged_comparisons_are_rejected():
    for place, line in enumerate(LINEAR["formula"]):
        if line.startswith(">"):
            operation, i, j = line.split(" ")
            formula = [*LINEAR["formula"]]
            formula[place] = f"{operation} {j} {i}"
            assert weakness({**LINEAR, "formula": formula}), line


def test_no_tree_proves_a_formula_that_is_true_somewhere():
    for true in (mean_above_maximum(Fraction(1, 2)), all_of(X >= 0, X <= 0), X * X >= Y):
        with pytest.raises(NoProof):
            find_tree(lines_of(as_formula(true)))


def test_nothing_follows_from_a_quotient_by_zero():
    """A quotient x/0 has no value, where z3 gives it any: neither x/0 = 1 nor x/0 < 1 is false."""
    for formula in (divide(X, Y) > 0, all_of(equals(Y, 0), divide(X, Y) > 0)):
        with pytest.raises(NoProof):
            find_tree(lines_of(as_formula(formula)))


@pytest.mark.parametrize(
    "changes",
    [
        {"formula": []},
        {"formula": ["x a", "> 0 1"]},
        {"formula": ["c 1/0", "c 1", "> 0 1"]},
        {"formula": ["x a", "^ 0 0"]},
        {"formula": ["x a"], "tree": ""},
        {"formula": ["x a", "> -1 0"]},
        {"tree": [0, "", ""]},
        {"tree": ["", ""]},
        {"tree": "1:0"},
        {"tree": "1:"},
        {"tree": None},
        {"kind": "trust me"},
    ],
)
def test_malformed_proofs_are_rejected(changes):
    assert weakness({**LINEAR, **changes})


# --- forged witnesses ----------------------------------------------------------------------------


def test_a_changed_entry_of_a_witness_is_rejected():
    assert weakness({**WITNESS, "at": {**WITNESS["at"], "x_2": "-1"}})
    assert "false" in weakness({**WITNESS, "at": {**WITNESS["at"], "x_1": "0", "x_3": "1/10"}})
    assert "no value" in weakness({**WITNESS, "at": {"x_1": "1", "x_2": "1"}})
    assert weakness({**WITNESS, "at": {**WITNESS["at"], "x_1": "nan"}})
    assert weakness({**WITNESS, "formula": LINEAR["formula"]})


# --- forged rates --------------------------------------------------------------------------------


def test_a_changed_multiplier_of_a_rate_is_rejected():
    for name, number in RATE["multipliers"].items():
        for wrong in (Fraction(number) + Fraction(1, 10**9), -Fraction(number)):
            assert weakness({**RATE, "multipliers": {**RATE["multipliers"], name: str(wrong)}})
        dropped = {k: x for k, x in RATE["multipliers"].items() if k != name}
        assert weakness({**RATE, "multipliers": dropped})


def test_a_negative_multiplier_of_a_rate_is_rejected():
    """The two names are one inequality, so that all equalities hold."""
    changes = {"diameter 0 1": "19/18", "diameter 1 0": "-1"}
    forged = {**RATE, "multipliers": {**RATE["multipliers"], **changes}}
    assert weakness(forged) == "the multiplier of diameter 1 0 is negative"


def test_a_better_rate_is_rejected():
    assert weakness({**RATE, "bound": "4/18"})
    assert weakness({**RATE, "steps": ["1", "1/2"]})
    assert weakness({**RATE, "steps": ["1", "3/2"]})
    assert weakness({**RATE, "functions": "smooth"})
    assert weakness({**RATE, "functions": "convex"})
    # half of the bound with half of the multipliers: the equalities hold, the form is indefinite
    halved = {
        k: str(Fraction(x) / (2 if "diameter" in k else 1)) for k, x in RATE["multipliers"].items()
    }
    assert "negative somewhere" in weakness({**RATE, "bound": "5/36", "multipliers": halved})


@pytest.mark.parametrize(
    "name", ["optimal 0 1", "lmo 2 0", "lmo -1 0", "smooth 0 1", "diameter 0 9"]
)
def test_an_inequality_that_is_none_is_rejected(name):
    assert weakness({**RATE, "multipliers": {**RATE["multipliers"], name: "0"}})


# --- the file ------------------------------------------------------------------------------------


def test_the_checker_needs_the_standard_library_alone():
    with open(verify_proofs.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("content", [None, "no JSON"])
def test_a_file_that_holds_no_proofs_is_named(content, tmp_path, monkeypatch, capsys):
    path = tmp_path / "K19.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(sys, "argv", ["verify_proofs.py", str(path)])
    with pytest.raises(SystemExit) as end:
        verify_proofs.main()
    assert end.value.code == 2
    assert f"{path} is not a file of stored proofs: " in capsys.readouterr().err
