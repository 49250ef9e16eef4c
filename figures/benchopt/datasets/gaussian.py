"""Samples of Gaussian classes."""

from benchopt import BaseDataset

from fwlab import datasets


class Dataset(BaseDataset):
    """Draw them with rows of length 1; the defaults are a fifth of synthetic-b's samples."""

    name = "Gaussian classes"
    parameters = {"n, d, m": [(3187, 1024, 20)]}
    test_parameters = {"n, d, m": [(40, 10, 4)]}

    def get_data(self):
        """Return samples and labels."""
        data = datasets.synthetic(self.n, self.d, self.m, 0.1, rng=0, normalize="unit")
        return {"X": data.X_train, "y": data.y_train}
