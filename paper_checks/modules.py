"""Import the modules of claims: a package for each paper, and users' own files."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from fwlab.experiments import import_file, importable
from paper_checks.ledger import CLAIMS, Claim

PAPERS = {
    "K19": ("kato2019", "Kato and Hirohashi 2019, Learning weighted top-k support vector machine"),
    "L15": ("lapin2015", "Lapin, Hein and Schiele 2015, Top-k multiclass SVM"),
    "T20": (
        "tajima2020",
        "Tajima et al. 2020, Frank-Wolfe for SVM-type multi-category classifiers",
    ),
    "M20": (
        "macha2020",
        "Macha, Adam and Smidl 2020, Nonlinear classifiers for ranking problems",
    ),
    "LP15": (
        "lei2015",
        "Lei, Dogan, Binder and Kloft 2015, Multi-class SVMs: from tighter bounds to algorithms",
    ),
}
# the package of each paper
INSIDE = {paper: f"paper_checks.{folder}" for paper, (folder, _) in PAPERS.items()}
# the rows about all numbers of a figure
FIGURES = "paper_checks.whole_figures"


@dataclass(frozen=True)
class ClaimFile:
    """A user's file of claims: its path as given, its module, and the ids of its claims."""

    path: str
    module: str
    ids: tuple[str, ...]


def claims(paper: str | None = None) -> list[Claim]:
    """Return all claims, or those of one paper, in the order of the papers and their files.

    The rows about whole figures come last in a paper, whichever module was imported first.
    """
    for module in (*INSIDE.values(), FIGURES):
        import_module(module)
    found = [claim for claim in CLAIMS.values() if paper in (None, claim.paper)]
    place = {name: number for number, name in enumerate(PAPERS)}
    return sorted(
        found,
        key=lambda claim: (
            place.get(claim.paper, len(place)),
            claim.form.__module__ == FIGURES,
        ),
    )


def claim_files(paths: Sequence[str]) -> list[ClaimFile]:
    """Import users' files after the papers' claims; return one ClaimFile per file.

    Raises ValueError, with a message that begins with the path, if a file cannot be imported or
    registers no claim.
    """
    claims()
    found: list[ClaimFile] = []
    for path, name in importable(paths).items():
        before = set(CLAIMS)
        import_file(path, name)
        ids = tuple(id for id in CLAIMS if id not in before)
        # a file that an earlier one imports has registered its claims there
        if not ids and not any(CLAIMS[id].form.__module__ == name for f in found for id in f.ids):
            raise ValueError(
                f"{path}: the file has no claims; paper_checks/template.py shows how to write one."
            )
        found.append(ClaimFile(path, name, ids))
    return found
