"""Data sets of fwlab; all but digits are read from the folder in FWLAB_DATA."""

from benchopt import BaseDataset

from fwlab import datasets


class Dataset(BaseDataset):
    """Load the train part of a data set."""

    name = "named"
    parameters = {"data": ["letter"], "normalize": ["standard"]}
    test_parameters = {"data": ["digits"], "normalize": ["unit"]}

    def get_data(self):
        """Return samples and labels."""
        data = datasets.load(self.data, normalize=self.normalize)
        return {"X": data.X_train, "y": data.y_train}
