"""Tensors of torch are read as arrays, or refused in one sentence; torch itself is not needed."""

import numpy as np
import pytest

import fwlab
from fwlab.checks.arguments import of_tensor
from fwlab.metrics import make_topk_scorer

pytestmark = pytest.mark.small
X = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 0.5]], dtype=np.float32)
Y = np.array([0, 1, 0])


class Tensor:
    """A stand-in with the protocol of torch: numpy reads it by __array__, which may raise."""

    def __init__(self, array, error=None, dtype="torch.float32", device="cpu"):
        self.array, self.error, self.dtype, self.device = array, error, dtype, device
        self.requires_grad = isinstance(error, RuntimeError)
        self.shape, self.ndim = array.shape, array.ndim

    def __len__(self):
        return len(self.array)

    def detach(self):
        return Tensor(self.array)

    def __array__(self, dtype=None, copy=None):
        if self.error is not None:
            raise self.error
        return self.array if dtype is None else self.array.astype(dtype)


BFLOAT16 = Tensor(X, TypeError("Got unsupported ScalarType BFloat16"), "torch.bfloat16")
TRACED = Tensor(X, RuntimeError("Can't call numpy() on Tensor that requires grad."))
ELSEWHERE = Tensor(X, TypeError("can't convert cuda:0 device type tensor"), device="cuda:0")
REFUSED = {
    "got a Tensor of torch.bfloat16: pass": BFLOAT16,
    "got a Tensor of torch.float32 that requires its gradient: pass": TRACED,
    "got a Tensor of torch.float32 on cuda:0: pass": ELSEWHERE,
}


@pytest.mark.parametrize("part", REFUSED)
def test_a_tensor_that_numpy_cannot_read_is_refused_in_one_sentence(part):
    tensor, machine = REFUSED[part], fwlab.TopKClassifier().fit(X, Y)
    sentence = rf"^\w+ must be an array, or a tensor .*; {part} \w+\.detach\(\)\.cpu\(\)\.float"
    for call in (
        lambda: fwlab.Problem(tensor, Y, fwlab.TopK(1), C=1.0),
        lambda: fwlab.TopKSVC().fit(tensor, Y),
        lambda: fwlab.TopKSVC().fit(X, tensor),
        lambda: machine.predict_proba(tensor),
        lambda: machine.proved(tensor),
        lambda: fwlab.TopKSVCCV([1.0], cv=2).fit(tensor, Y),
        lambda: fwlab.TopPushClassifier().fit(tensor, Y),
        lambda: machine.to_model().predict(tensor),
    ):
        with pytest.raises(TypeError, match=sentence):
            call()


def test_a_tensor_in_memory_is_an_array_of_its_type():
    read = of_tensor("X", Tensor(X))
    assert read is X and of_tensor("X", "other") == "other"
    machine = fwlab.TopKClassifier().fit(Tensor(X), Tensor(Y))
    expected = fwlab.TopKClassifier().fit(X, Y)
    np.testing.assert_array_equal(machine.predict_proba(Tensor(X)), expected.predict_proba(X))
    assert make_topk_scorer(1)(machine, Tensor(X), Tensor(Y)) == expected.score(X, Y)
    problem = fwlab.Problem(Tensor(X), Tensor(Y), fwlab.TopK(1), C=1.0, storage="float32")
    assert np.shares_memory(problem.X, X)
