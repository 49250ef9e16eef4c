"""Check M20 section 4.4: the text's statements about its curves, densities and Table 3."""

from collections.abc import Iterator

from figures.macha2020 import fashion
from figures.macha2020.figure1 import MACHINES, area
from figures.macha2020.figure2 import overlaps
from figures.macha2020.fits import PREPROCESSING
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Experiment, Outcome, claim, version
from paper_checks.macha2020.published import FASHION, PRINTED, printed_families
from paper_checks.outcomes import less, published, truth
from paper_checks.stored_tables import StoredFigure, stored_figure

ON_FASHION = Experiment(data=(FASHION,))
MEASURED = "An experiment on real data."
READ_AS = (
    "On the stored runs, with the C chosen on the validation part, and with raw or "
    "standardised features as in the reading of the figure. The text states neither, "
    "and the other choice can reverse the answer. "
)


def features(figure: StoredFigure) -> str:
    """Return the preprocessing of the figure's reading."""
    return next(name for name in PREPROCESSING if figure.finding.reading.startswith(name))


def areas(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the area under the precision-recall curve of each machine, by kernel."""
    figure = stored_figure("macha2020_figure1")
    for machine in MACHINES:
        linear, gauss = (
            area(fashion.chosen(figure.values, figure.size, features(figure), machine, kernel))
            for kernel in fashion.KERNELS
        )
        yield Case(kind=figure.kind, data=FASHION, machine=machine, linear=linear, gauss=gauss)


@claim(
    "M20-curves-gauss",
    "4.4, first paragraph, third sentence",
    "On Fashion-MNIST the Gaussian kernel with sigma = 0.01 outperforms the linear kernel, for all "
    "methods.",
    shapes="linear, gauss: area under the precision-recall curve of the testing part",
    judged=READ_AS + "By the area under the curve. The text says significantly, and names no test; "
    "there is one run of each machine.",
    cases=areas,
    from_table=True,
    experiment=ON_FASHION,
    sides=("with the linear kernel", "with the Gaussian kernel"),
    planted=(version("by an area of 0.2", more=0.2), version("the linear kernel does", sign=-1)),
    not_proved=MEASURED,
)
def gaussian_has_more_area(case: Case, more: float = 0.0, sign: int = 1) -> Outcome:
    left, right = (case.linear, case.gauss)[::sign]
    return less(left + more, right)


def overlapping(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the overlap of the two densities of scores for each machine, by kernel."""
    figure = stored_figure("macha2020_figure2")
    for machine, (linear, gauss) in overlaps(figure.values, figure.size, features(figure)).items():
        yield Case(kind=figure.kind, data=FASHION, machine=machine, linear=linear, gauss=gauss)


@claim(
    "M20-densities-overlap",
    "4.4, second paragraph, last sentence",
    "On Fashion-MNIST the scores of positives and negatives overlap less with the Gaussian kernel "
    "than with the linear one.",
    shapes="linear, gauss: area below both densities, 0 for classes apart and 1 for equal ones",
    judged=READ_AS + "The area below both densities measures the overlap.",
    cases=overlapping,
    from_table=True,
    experiment=ON_FASHION,
    sides=("with the Gaussian kernel", "with the linear kernel"),
    planted=(version("less by 0.1", more=0.1), version("more", sign=-1)),
    not_proved=MEASURED,
)
def gaussian_overlaps_less(case: Case, more: float = 0.0, sign: int = 1) -> Outcome:
    left, right = (case.gauss, case.linear)[::sign]
    return less(left + more, right)


@claim(
    "M20-table3-crossing",
    "4.4, list after Table 3, and section 5, last paragraph",
    "In the printed Table 3 TopPush or TopPushK is best up to some recall, and Pat&Mat from there "
    "on, with both kernels.",
    shapes="push, patmat: best precision of each family at recall 0.05, 0.1, 0.2, 0.4, 0.6, 0.8",
    judged="sufficiently small and sufficiently large recall: along the six recalls the lead "
    "changes once, after 0.2 with the linear kernel and after 0.05 with the Gaussian one.",
    cases=lambda rng, deep: printed_families(),
    planted=(
        version("the lead changes after 0.1", after=2),
        version("Pat&Mat is best first", sign=-1),
    ),
    not_proved=PRINTED,
)
def the_lead_changes_once(case: Case, after: int = 0, sign: int = 1) -> Outcome:
    leads = [sign * (a - b) > 0 for a, b in zip(case.push, case.patmat, strict=True)]
    place = after or sum(leads)
    once = leads == [i < place for i in range(len(leads))]
    return published(truth(once and 0 < place < len(leads), leads=leads))
