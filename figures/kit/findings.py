"""Findings: how far a figure or table agrees with its paper, as its stored values say."""

from dataclasses import dataclass
from enum import StrEnum

from figures.kit.readings import Tried


class Agreement(StrEnum):
    """Whether a paper's figure comes out again."""

    AGREES = "agrees"
    COULD_AGREE = "could agree"
    DISAGREES = "disagrees"
    NO_DATA = "data not to be had"


@dataclass(frozen=True)
class FigureFinding:
    """How far a figure or table agrees with its paper; all texts are made of computed numbers.

    Parameters
    ----------
    outcome
        The short answer.
    measured
        The number that says so: "34 of 36 numbers within 0.01".
    because
        Why the figure does not agree, or not for certain: a sentence without its stop.
    reading
        Name of the reading that was chosen, "" if the text leaves no choice.
    tried
        All readings with their distances.
    tolerance
        Distance within which a cell of a reading agrees.
    claims
        Ids of the ledger's rows about this figure.
    """

    outcome: Agreement
    measured: str
    because: str = ""
    reading: str = ""
    tried: tuple[Tried, ...] = ()
    tolerance: float = 0.0
    claims: tuple[str, ...] = ()

    @property
    def n_readings(self) -> int:
        """Return the number of readings that were tried."""
        return max(len(self.tried), 1)

    @property
    def under(self) -> str:
        """Return the reading, and of how many it was chosen: "R (1 of 5)"; "" if there is one."""
        return f"{self.reading} (1 of {self.n_readings})" if self.n_readings > 1 else self.reading

    def sentence(self) -> str:
        """Return the finding as a sentence for a caption."""
        reading = f" under the reading {self.under}" if self.under else ""
        because = f": {self.because}" if self.because else ""
        return f"{self.outcome.capitalize()}{reading}; {self.measured}{because}."


def no_data(claims: tuple[str, ...] = ()) -> FigureFinding:
    """Return the finding of a script that has nothing to compute."""
    return FigureFinding(
        Agreement.NO_DATA, "0 numbers of ours", "its features are not to be had here", claims=claims
    )
