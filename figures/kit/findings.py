"""Findings: how well a figure or table agrees with its paper, according to its stored values."""

from dataclasses import dataclass
from enum import StrEnum

from figures.kit.readings import Tried


class FigureOutcome(StrEnum):
    """Whether a paper's figure comes out again; the ledger's rows decide, no script states it."""

    AGREES = "agrees"
    AGREES_WITH_PROGRAM = "agrees with the program"
    EXPLAINED = "explained"
    NOT_EXPLAINED = "not explained"
    NOTHING = "nothing to compute"


@dataclass(frozen=True)
class FigureFinding:
    """How well a figure or table agrees with its paper; all texts are built from computed numbers.

    Parameters
    ----------
    outcome
        What follows from the figure's own numbers. The ledger's row about all numbers takes it; the
        scoreboard has the worst outcome of all rows about the figure.
    measured
        The number that supports it: "34 of 36 numbers within 0.01".
    because
        Where the text says otherwise, the cause of a difference, or what was tried without success:
        a sentence without a full stop.
    reading
        Name of the reading that was chosen, "" if the text allows only one.
    tried
        All readings with their distances.
    tolerance
        Distance within which a cell of a reading agrees.
    claims
        Ids of the ledger's rows about this figure.
    """

    outcome: FigureOutcome
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
        """Return the reading and the number of readings, as in "R (1 of 5)".

        "" if there is only one.
        """
        return f"{self.reading} (1 of {self.n_readings})" if self.n_readings > 1 else self.reading

    def sentence(self) -> str:
        """Return the finding as a sentence for a caption, which needs no ledger."""
        reading = f", under the reading {self.under}" if self.under else ""
        because = f": {self.because}" if self.because else ""
        return f"{self.measured}{reading}{because}."


def nothing_to_compute(
    claims: tuple[str, ...] = (), why: str = "its data are unavailable here"
) -> FigureFinding:
    """Return the finding for a figure with no number of ours."""
    return FigureFinding(FigureOutcome.NOTHING, "0 numbers of ours", why, claims=claims)
