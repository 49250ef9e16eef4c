"""Store a trained machine in a file, with everything that predicting from raw features needs.

The file holds only arrays and JSON texts, no pickle: the machine, the class labels, the
normalisation with its fitted arrays, the feature names, settings, versions and the certificate.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_features, as_integer
from fwlab.checks.labels import plain_labels
from fwlab.datasets.normalize import Scaling
from fwlab.npz import Saved, saved_arrays, write_arrays
from fwlab.operators.softmax import log_probabilities
from fwlab.provenance import provenance
from fwlab.result import TEXT, Result, named_values, part_of
from fwlab.text import in_brackets

# the part of a file that is a model's; the rest, if there is more, is a Result's
PREFIX = "model_"
MOST_CLASSES = 5  # that a representation names
# what came later: a file without it has none
LATER = ("label_name", "index_base")
# what the arrays of a file must be
MODEL = {
    "W": Saved("iuf", ("m", "d"), finite=True),
    "intercept": Saved("iuf", ("m",), finite=True),
    "classes": Saved("biufUS", ("m",), finite=True),
    "scaling_normalize": TEXT._replace(required=False),
    "scaling_exponent": Saved("iu", ("d",), required=False),
    **{
        f"scaling_{name}": Saved("f", ("d",), finite=True, required=False)
        for name in ("origin", "mean", "deviation")
    },
    **dict.fromkeys(("feature_names", "settings", "certificate", "made_by"), TEXT),
    **dict.fromkeys(LATER, TEXT._replace(required=False)),
}
# the setting `loss` of a run, and of an estimator
CROSS_ENTROPY = ("CrossEntropy()", "TopKEntropy(k=1)", "'cross-entropy'")
CERTIFICATE = ("primal", "dual", "gap", "gap_error", "distance")


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A linear machine that predicts labels from raw features.

    Attributes
    ----------
    W, intercept : array (m, d), (m,)
        The machine.
    classes : array (m,)
        The class labels.
    scaling : Scaling
        The normalisation that `scores` applies to its samples.
    feature_names : tuple of str (d,), or None
        The names of the features.
    label_name : str or None
        The name of the column of labels.
    index_base : int or None
        The index of the first feature in the file of the training samples, 0 or 1, if it was in
        LIBSVM's format.
    settings : dict
        The settings of the training run.
    certificate : dict
        primal, dual, gap, gap_error, and the bound `distance` of |W - W*|.
    made_by : dict
        Versions, commit, processor and date.
    """

    W: Floats
    intercept: Floats
    classes: np.ndarray
    scaling: Scaling = field(default_factory=Scaling)
    feature_names: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, float] = field(default_factory=dict)
    made_by: Mapping[str, str] = field(default_factory=provenance)
    label_name: str | None = None
    index_base: int | None = None

    def __repr__(self) -> str:
        m, d = self.W.shape
        shown = [*map(str, self.classes[:MOST_CLASSES].tolist()), *[".."][: m > MOST_CLASSES]]
        facts = [f"d = {d}", f"m = {m}", f"classes = {', '.join(shown)}"]
        facts.append(f"normalize = {self.scaling.normalize}")
        if "gap" in self.certificate:
            facts.append(f"gap = {self.certificate['gap']:.3g}")
        return in_brackets("Model", facts)

    @classmethod
    def of(
        cls,
        result: Result,
        classes: Any,
        scaling: Scaling | None = None,
        feature_names: tuple[str, ...] | None = None,
        settings: Mapping[str, Any] | None = None,
        label_name: str | None = None,
        index_base: int | None = None,
    ) -> "Model":
        """Return the model of a training run. Raises ValueError with a precomputed kernel."""
        if result.W is None:
            raise ValueError('a model needs W, which kernel="precomputed" does not have.')
        return cls(
            result.W,
            np.zeros(len(result.W)),
            np.asarray(classes),
            scaling or Scaling(),
            feature_names,
            settings or {},
            {name: float(getattr(result, name)) for name in CERTIFICATE},
            result.made_by,
            label_name,
            index_base,
        )

    def scores(self, X: Any) -> Floats:
        """Return the scores (n, m) of raw features X (n, d)."""
        rows = as_features("X", X)
        if rows.shape[1] != self.W.shape[1]:
            raise ValueError(f"X must have {self.W.shape[1]} columns; got {rows.shape[1]}.")
        rows = rows.copy() if sp.issparse(rows) else np.array(rows, dtype=np.float64, order="C")
        self.scaling.apply(rows)
        return np.asarray(rows @ self.W.T) + self.intercept

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of the largest score, (n,); ties go to the first class."""
        return np.asarray(self.classes[self.scores(X).argmax(axis=1)])

    def predict_topk(self, X: Any, k: int) -> np.ndarray:
        """Return the k best labels of each sample, (n, k), the best one first."""
        k = as_integer("k", k, low=1, high=len(self.classes))
        order = np.argsort(-self.scores(X), axis=1, kind="stable")
        return np.asarray(self.classes[order[:, :k]])

    @property
    def has_probabilities(self) -> bool:
        """Whether the loss of the training run was the cross-entropy."""
        loss = self.settings.get("loss")
        is_named = loss == "'topk-entropy'" and self.settings.get("k") == "1"
        return is_named or loss in CROSS_ENTROPY

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities (n, m) of the classes. Raises ValueError for another loss."""
        if not self.has_probabilities:
            loss = self.settings.get("loss", "an unknown loss")
            raise ValueError(f"probabilities need a model of the cross-entropy; got {loss}.")
        return np.asarray(np.exp(log_probabilities(self.scores(X))))

    def save(self, path: str | Path) -> None:
        """Write the model to an .npz file."""
        write_arrays(path, self.as_arrays())

    def as_arrays(self) -> dict[str, Any]:
        """Return everything as named arrays, for a file."""
        texts = {
            "feature_names": self.feature_names and list(self.feature_names),
            "settings": dict(self.settings),
            "certificate": dict(self.certificate),
            "made_by": dict(self.made_by),
            "label_name": self.label_name,
            "index_base": self.index_base,
        }
        classes = np.asarray(self.classes)
        arrays: dict[str, Any] = {
            "W": self.W,
            "intercept": self.intercept,
            # a file holds neither Python objects nor numpy's strings of any length
            "classes": plain_labels(classes) if classes.dtype.kind in "OT" else classes,
        }
        arrays |= {f"scaling_{name}": value for name, value in self.scaling.as_dict().items()}
        arrays |= {name: json.dumps(value) for name, value in texts.items()}
        return {f"{PREFIX}{name}": value for name, value in arrays.items()}

    @classmethod
    def load(cls, path: str | Path) -> "Model":
        """Read a file of `save` or `fwlab solve --save`. Raises ValueError for any other file."""
        form = {f"{PREFIX}{name}": saved for name, saved in MODEL.items()}
        with saved_arrays(path, "Model", form) as stored:
            own = part_of(stored, PREFIX)
            scaling = part_of(own, "scaling_")
            if "normalize" in scaling:
                scaling["normalize"] = scaling["normalize"].item()
            if len(np.unique(own["classes"])) < len(own["classes"]):
                raise ValueError("it names a class twice.")
            label, base = (json.loads(own[n].item()) if n in own else None for n in LATER)
            if not isinstance(label, str | None) or base not in (None, 0, 1):
                raise ValueError(f"a label or an index cannot be {label!r} or {base!r}.")
            return cls(
                own["W"],
                own["intercept"],
                own["classes"],
                Scaling.from_dict(scaling),
                _names(json.loads(own["feature_names"].item()), own["W"].shape[1]),
                named_values(own["settings"]),
                named_values(own["certificate"]),
                named_values(own["made_by"]),
                label,
                base,
            )


def _names(stored: Any, d: int) -> tuple[str, ...] | None:
    """Return the names of d features, None for none. Raises ValueError for anything else."""
    if stored in (None, []):
        return None
    are_names = isinstance(stored, list) and all(isinstance(name, str) for name in stored)
    if not are_names or len(stored) != d:
        raise ValueError(f"it must name {d} features or none.")
    return tuple(stored)
