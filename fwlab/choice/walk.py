"""Walk along C from point to point, as far as each bound allows.

A stretch from a point to the next one is proved if the number of validation samples that can be
correct exceeds the chosen machine's number by at most `allowed`. Its reach (fwlab.choice.stretch)
is about residual + bend h^2 for the logarithm h of its length, and must stay below the room: the
distance from the machine within which one sample more could be correct. That gives the next h.

A machine whose residual takes more than a share of the room asks for another knot. A point that is
better than the chosen machine becomes a knot, and is chosen if its solution is better, too.

If the bound stays too high on a stretch of the length SHORTEST, the walk leaves it open and goes
on. Stretches in a row that are left open double in length, so that the walk always ends.
"""

from dataclasses import dataclass, field

import numpy as np

from fwlab.choice.knots import Knots
from fwlab.choice.point import PointAtC, TrainingSamples
from fwlab.choice.stretch import reach
from fwlab.choice.validation import Leads, Validation

FIRST, SHORTEST = 1e-2, 1e-7  # lengths in log C
SAFE, SOLVED, LARGEST_SHARE = 0.9, 0.1, 0.3  # shares of the room
# of the machine's length, below which a residual is not asked for: rounding is near
FINEST = 1e-10
GROWTH = 2.0
# of the last step but one, what is left over and joins it
REST = 1 / 8
# of the length of a machine: the residual of one that may be chosen
SHARE = 1e-4
# a gap of knots is halved if it is that many steps long; otherwise the point itself is solved
WIDE = 4.0


@dataclass(frozen=True)
class Stretch:
    """All C from low to high, where at most n_right validation samples can be correct."""

    low: float
    high: float
    n_right: int


@dataclass(eq=False)
class Walk:
    """The walk so far.

    Attributes
    ----------
    training, validation : TrainingSamples, Validation
    knots : Knots
    allowed : int
        The number of samples that the slack allows.
    stretches : list of Stretch
        From the lowest C on, without gaps.
    step, bend, shortest : float
        The length of the next stretch in log C, the bend of the last one, and the length at which
        the next one is left open.
    n_points : int
        The number of machines that were evaluated.
    """

    training: TrainingSamples
    validation: Validation
    knots: Knots
    allowed: int
    stretches: list[Stretch] = field(default_factory=list)
    step: float = FIRST
    bend: float = 0.0
    shortest: float = SHORTEST
    n_points: int = 0

    @property
    def most(self) -> int:
        """The number of correct predictions that a proved stretch may not exceed."""
        return self.knots.n_right[self.knots.best_C] + self.allowed

    def run(self) -> None:
        """Walk from the lowest knot to the highest one, or until the clock says to end."""
        end = max(self.knots.machines)
        first = min(self.knots.machines)
        at = self._near(first, self._room(self.validation.leads(self.knots.machine(first))))
        leads = self.validation.leads(at.W)
        while at.C < end and not self.knots.clock.is_over():
            room = self._room(leads)
            self.step = min(GROWTH * self.step, self._length(room, at.residual))
            found = self._next(at, leads, room, end)
            if found is None:
                return
            at, leads = found

    def _next(
        self, at: PointAtC, leads: Leads, room: float, end: float
    ) -> tuple[PointAtC, Leads] | None:
        """Return the next point with its leads, and add the stretch to it; None at the end."""
        while not self.knots.clock.is_over():
            self.step = max(self.step, self.shortest)
            C = self._after(at.C, end)
            point = self._near(C, room)
            found = self.validation.leads(point.W)
            if found.n_right > self.most - self.allowed and C not in self.knots.n_right:
                self.knots.add(C, point.W, SHARE * float(np.linalg.norm(point.W)))
                self.knots.refine(C, self._wanted(C, room))
                continue
            size, ends = reach(self.training, at, point), max(at.residual, point.residual)
            n_right = self.validation.most_right(leads, found, size)
            length = float(np.log(C / at.C))
            self.bend = (size - ends) / length**2
            is_open = n_right > self.most
            if not is_open or self.step <= self.shortest:
                self.shortest = GROWTH * self.shortest if is_open else SHORTEST
                self.stretches.append(Stretch(at.C, C, n_right))
                return point, found
            self.step = np.clip(self._length(room, ends), length / 4, 0.7 * length)
        return None

    def _after(self, C: float, end: float) -> float:
        """Return the C of the next point; no short rest is left before the end."""
        rest = float(np.log(end / C))
        return end if self.step * (1 + REST) >= rest else C * float(np.exp(self.step))

    def _room(self, leads: Leads) -> float:
        """Return the distance within which more than `most` predictions can be correct."""
        margins, number = leads.margins(self.validation.norms), self.most - self.validation.n_always
        if number >= len(margins):
            return np.inf
        return max(0.0, float(np.partition(margins, number)[number]))

    def _length(self, room: float, residual: float) -> float:
        """Return the length in log C at which the reach is about the room."""
        left = max(room - residual, (1 - SAFE) * room)
        return float(SAFE * np.sqrt(left / self.bend)) if 0 < self.bend < np.inf else self.step

    def _near(self, C: float, room: float) -> PointAtC:
        """Return a point at C whose residual is small enough, or that is solved.

        Without room no residual is small enough.
        """
        point, is_solved = self._evaluated(C), room == 0.0
        while point.residual > LARGEST_SHARE * room and not is_solved:
            if self.knots.clock.is_over():
                break
            knot = self._place_of_knot(C)
            self.knots.refine(knot, self._wanted(knot, room))
            point, is_solved = self._evaluated(C), knot == C
        return point

    def _place_of_knot(self, C: float) -> float:
        """Return where a knot helps C: in the middle of a wide gap, or C itself."""
        if C in self.knots.machines:
            return C
        low, high = self.knots.around(C)
        is_wide = np.log(high / low) > WIDE * self.step
        return float(np.sqrt(low) * np.sqrt(high)) if is_wide else C

    def _wanted(self, C: float, room: float) -> float:
        """Return the residual for a knot at C."""
        size = float(np.linalg.norm(self.knots.machine(C)))
        return max(min(SOLVED * room, size), FINEST * size)

    def _evaluated(self, C: float) -> PointAtC:
        self.n_points += 1
        return self.training.point(C, self.knots.machine(C))
