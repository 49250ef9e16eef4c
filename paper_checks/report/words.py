"""Explain the verdicts and the tiers of evidence, in the order in which they are listed."""

MEANING = {
    "holds": "true over its whole stated range, as far as it was tried",
    "wider": "true, and still true without a restriction that it names",
    "conditional": "false as stated, true under the condition given",
    "misprint": "false as printed; the correct form is true, and the paper has it elsewhere",
    "fails": "false, or without a value, as the witness shows",
    "reproduced": "the experiment comes out as the paper says",
    "not reproduced": "the experiment comes out otherwise",
    "inconclusive": "the experiment allows either answer",
    "other data": "tried on other data than the paper used",
    "untestable": "not tried here, for the reason given",
}
EXPERIMENTS = ("reproduced", "not reproduced", "inconclusive", "other data")
REFUTED = ("misprint", "fails")
TIERS = {
    "proved": "shown for all real numbers at the sizes given",
    "exact": "tried on sampled cases in rational arithmetic, without tolerance",
    "counted": "operations counted by instrumented code",
    "float": "tried on sampled cases in floating point, within the tolerance given",
    "Monte Carlo": "estimated from random draws, with an interval",
    "published numbers": "compared with numbers that the paper prints",
    "read": "read in the paper, not computed",
}
# the name of the true version of a statement, by verdict
TRUE_VERSION = {
    "wider": "also true",
    "conditional": "condition",
    "misprint": "derived form",
    "fails": "corrected form",
}
