"""The examples in the docstrings of the base classes run and pass the checkers."""

import inspect
import re
from dataclasses import dataclass
from textwrap import dedent

import numpy as np
import pytest

import fwlab
from fwlab.testing import check_loss, check_method

BASES = fwlab.Method, fwlab.StepRule, fwlab.PolytopeLoss, fwlab.Loss


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
def test_the_example_of_a_docstring_works(base):
    text = inspect.getdoc(base)
    example = re.search(
        r"^Examples\n--------\n.*?::\n\n(.*?)(?=\n\S|\Z)", text, re.DOTALL | re.MULTILINE
    )
    names = {"fwlab": fwlab, "np": np, "dataclass": dataclass, "__name__": __name__}
    exec(dedent(example[1]), names)
    [made] = [c for c in names.values() if isinstance(c, type) and base in c.__mro__[1:]]
    if base is fwlab.Method:
        check_method(made())
    elif base is fwlab.StepRule:
        check_method(fwlab.FrankWolfe(step=made()))
    else:
        check_loss(made(), 4)
