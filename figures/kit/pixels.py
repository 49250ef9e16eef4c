"""Black-and-white images: pixels are thresholded before the rows are normalised."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fwlab.datasets import Dataset

if TYPE_CHECKING:
    from fwlab.experiments import DataName

WHITE = 255.0
# why a result may differ; a script compares it with a control
GREY = "the published pixels are black and white, ours are grey"


@dataclass(frozen=True)
class BlackAndWhite:
    """Stand for a `DataName` of pixels 0..255, each of which becomes 0 or 255, the nearer one.

    grey: the data set, with normalize None or "unit".
    """

    grey: "DataName"

    def load(self) -> Dataset:
        """Return the data set in black and white."""
        grey = replace(self.grey, normalize=None).load()
        parts = {name: getattr(grey, name) for name in ("X_train", "X_valid", "X_test")}
        found: dict[str, Any] = {
            name: None if X is None else self._pixels(X) for name, X in parts.items()
        }
        name = f"{grey.name} in black and white"
        return replace(grey, **found, name=name, normalize=self.grey.normalize)

    def _pixels(self, X: np.ndarray) -> np.ndarray:
        """Return the thresholded pixels (n, d), in rows of length 1 if asked for."""
        pixels = np.where(WHITE / 2 < X, WHITE, 0.0)
        if self.grey.normalize is None:
            return pixels
        lengths = np.linalg.norm(pixels, axis=1, keepdims=True)
        return np.asarray(pixels / np.where(lengths, lengths, 1.0))
