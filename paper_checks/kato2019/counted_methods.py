"""Run Frank-Wolfe methods for the weighted top-k problem and count their operations.

Standard, away-step and pairwise steps with exact line search (Lacoste-Julien and Jaggi 2015), by
K19 (20) and (24). Each addition, multiplication and comparison counts as one operation.
"""

from functools import cmp_to_key

import numpy as np

Atom = tuple[np.ndarray, np.ndarray]
# products whose relative difference is below this differ only by rounding
TIES = 1e-10


class CountedFrankWolfe:
    """The standard method from A = 0.

    Products use the features or, if n < d, the Gram matrix, whose computation is not counted. Rows
    are sorted if `sorting`; otherwise the k largest margins are selected in k passes.
    """

    def __init__(
        self, X: np.ndarray, y: np.ndarray, rho: np.ndarray, lam: float, sorting: bool = True
    ) -> None:
        self.X, self.y, self.rho, self.lam, self.sorting = X, y, rho, lam, sorting
        self.gram = X @ X.T if len(X) < X.shape[1] else None
        self.rows = np.arange(len(X))
        self.operations = 0
        self.restart(np.zeros((len(X), len(rho))))

    def restart(self, A: np.ndarray) -> None:
        """Continue from the given A."""
        self.A = A
        self.Z = self.scores(A)

    def product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        self.operations += 2 * left.shape[0] * left.shape[1] * right.shape[1]
        return left @ right

    def scores(self, A: np.ndarray) -> np.ndarray:
        """Return the rows W(A) x_i, (n, m)."""
        self.operations += A.size
        if self.gram is not None:
            return self.product(self.gram, A) / (self.lam * len(A))
        return self.product(self.X, self.product(self.X.T, A)) / (self.lam * len(A))

    def sorted_places(self, margins: np.ndarray) -> list[int]:
        """Return the places of the margins in descending order; the sort counts its comparisons."""

        def compare(i: int, j: int) -> int:
            self.operations += 1
            return int(margins[i] < margins[j]) - int(margins[i] > margins[j])

        return sorted(range(len(margins)), key=cmp_to_key(compare))

    def places(self, margins: np.ndarray) -> np.ndarray:
        """Return the places of the largest margins in each row, finding one per pass."""
        if self.sorting:
            return np.array([self.sorted_places(row) for row in margins])
        left, found = margins.copy(), []
        for turn in range(np.count_nonzero(self.rho)):
            found.append(left.argmax(axis=1))
            self.operations += len(left) * (left.shape[1] - turn - 1)
            left[self.rows, found[-1]] = -np.inf
        return np.stack(found, axis=1)

    def vertex(self) -> np.ndarray:
        """Return the vertex of the linear problem: in each row, minus a subgradient of the loss."""
        margins = 1.0 + self.Z - self.Z[self.rows, self.y][:, None]
        margins[self.rows, self.y] = 0.0
        places = self.places(margins)
        rho = self.rho[: places.shape[1]]
        positive = np.take_along_axis(margins, places, axis=1) @ rho > 0
        self.operations += 4 * margins.size
        U = np.zeros_like(self.A)
        np.put_along_axis(U, places, np.where(positive[:, None], -rho, 0.0), axis=1)
        U[self.rows, self.y] += np.where(positive, rho.sum(), 0.0)
        return U

    def gradient(self) -> np.ndarray:
        """Return n times the gradient of D: E_y - Z."""
        G = -self.Z
        G[self.rows, self.y] += 1.0
        self.operations += G.size
        return G

    def inner(self, A: np.ndarray, B: np.ndarray) -> float:
        self.operations += 2 * A.size
        return float(np.vdot(A, B))

    def gap(self, G: np.ndarray, U: np.ndarray) -> float:
        """Return the duality gap at A: <G, U - A>/n."""
        return self.inner(G, U - self.A) / len(self.A)

    def move(self, G: np.ndarray, D: np.ndarray, longest: float) -> float:
        """Take the exact step along the direction D, at most `longest`, and return its length."""
        change = self.scores(D)
        slope, bend = self.inner(G, D), self.inner(change, D)
        step = 0.0 if slope <= 0 else longest if slope >= longest * bend else slope / bend
        self.A = self.A + step * D
        self.Z = self.Z + step * change
        self.operations += 4 * D.size
        return step

    def iterate(self) -> float:
        """Do one iteration and return the gap before the step."""
        G, U = self.gradient(), self.vertex()
        gap = self.gap(G, U)
        self.move(G, U - self.A, 1.0)
        return gap


class CountedActiveSet(CountedFrankWolfe):
    """The away-step or the pairwise method.

    A is a convex combination of atoms, which are whole matrices; each is stored as the places and
    values of its nonzeros.
    """

    pairwise = False

    def restart(self, A: np.ndarray) -> None:
        super().restart(A)
        self.atoms: list[Atom] = [compressed(A)]
        self.shares = [1.0]

    def lowest(self, G: np.ndarray) -> int:
        """Return the atom with the least inner product with the gradient.

        At ties it is the first one; an exact step leaves its two ends tied.
        """
        flat = G.ravel()
        self.operations += sum(2 * len(places) for places, _ in self.atoms)
        products = np.array([values @ flat[places] for places, values in self.atoms])
        return int(np.argmax(products <= products.min() + TIES * np.abs(products).max()))

    def iterate(self) -> float:
        G, U = self.gradient(), self.vertex()
        gap, worst = self.gap(G, U), self.lowest(G)
        V = expanded(self.atoms[worst], self.A.shape)
        share = self.shares[worst]
        if self.pairwise:
            step = self.move(G, U - V, share)
            self.shares[worst] -= step
            self.hold(U, step)
        elif gap * len(G) >= self.inner(G, self.A - V):
            step = self.move(G, U - self.A, 1.0)
            self.shares = [(1 - step) * s for s in self.shares]
            self.hold(U, step)
        else:
            step = self.move(G, self.A - V, share / (1 - share) if share < 1 else 0.0)
            self.shares = [(1 + step) * s for s in self.shares]
            self.shares[worst] -= step
        kept = [s > 1e-14 for s in self.shares]
        self.atoms = [a for a, keep in zip(self.atoms, kept, strict=True) if keep]
        self.shares = [s for s in self.shares if s > 1e-14]
        return gap

    def hold(self, U: np.ndarray, share: float) -> None:
        """Add weight to an atom, which may be new."""
        new = compressed(U)
        for i, (places, values) in enumerate(self.atoms):
            if np.array_equal(places, new[0]) and np.array_equal(values, new[1]):
                self.shares[i] += share
                return
        self.atoms.append(new)
        self.shares.append(share)


class CountedPairwise(CountedActiveSet):
    pairwise = True


METHODS = {"fw": CountedFrankWolfe, "afw": CountedActiveSet, "pfw": CountedPairwise}


def compressed(A: np.ndarray) -> Atom:
    places = np.flatnonzero(A)
    return places, A.ravel()[places]


def expanded(atom: Atom, shape: tuple[int, ...]) -> np.ndarray:
    A = np.zeros(shape)
    A.ravel()[atom[0]] = atom[1]
    return A
