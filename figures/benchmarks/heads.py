"""Compare linear heads: accuracy, CPU seconds and memory, with C chosen on a validation part.

Each head has an intercept, and the defaults of its library, except `method="auto"` of TopKSVC and
up to 1000 iterations of LogisticRegression. C is one of 1e-3, 1e-2, .., 1e3 and multiplies a sum of
losses: RidgeClassifier has alpha = 1 / (2 C), and SGDClassifier, which averages its weights, alpha
= 1 / (C n). C increases until two values in a row are worse on the validation part than the best
one, in top-1 and in top-5 accuracy, or until a fit takes longer than 10 s. Heads of this library
and LogisticRegression start from the weights of the previous C. The best C for each of the two
accuracies, the smaller one of equals, is then used for a final fit on the training and the
validation part together, whose accuracy on the test part the table shows.

"choice" is the CPU time of all fits with their validation, "fit" of the final fit for top-1, both
with one thread, after a small fit that loads compiled code. Each head has a forked process, and
"MB" is by how much its largest resident size exceeds that after the small fit, when the data are in
memory.

digits and letter are standardised; the other sets have rows of length 1. letter, news20_svd1024 and
fashion_mnist have 6000 rows, drawn within each class. A fifth of the rows is used for validation,
except that caltech101_sil28 has a validation part. hard, middling and easy are synthetic: 4000 x
128 with 50 classes, whose means are 0.2, 0.35 and 0.6 N(0, I) under noise of N(0, I).
"""

import time
from itertools import islice
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from figures.benchmarks import choice
from figures.benchmarks.streaming import peak_megabytes
from figures.benchmarks.timing import print_line

HEADER = ("data", "n x d x m", "head", "C", "top-1", "C", "top-5", "choice", "fit", "MB")
TESTED = (1, 5)
FEW = 300


class Measured(NamedTuple):
    """The best C and the test accuracy for each k, CPU seconds and megabytes."""

    C: list[float]
    accuracies: list[float]
    choice: float
    fit: float
    megabytes: float

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        chosen = zip(self.C, self.accuracies, strict=True)
        tops = [cell for C, accuracy in chosen for cell in (f"{C:g}", f"{accuracy:.4f}")]
        return [*tops, f"{self.choice:.2f}", f"{self.fit:.2f}", f"{self.megabytes:.0f}"]


def measured(data: choice.ThreeParts, name: str) -> Measured:
    """Return the results and the cost of the choice of C for a head and of its final fits."""
    make = choice.HEADS[name]
    choice.fitted(make(choice.CS[0], FEW), data.X_train[:FEW], data.y_train[:FEW])
    before = peak_megabytes()
    chosen = choice.choose(make, data, TESTED)
    X, y = np.r_[data.X_train, data.X_valid], np.r_[data.y_train, data.y_valid]
    found, seconds = [], []
    for C, k in zip(chosen.C, TESTED, strict=True):
        began = time.process_time()
        head = choice.fitted(make(C, len(y)), X, y)
        seconds.append(time.process_time() - began)
        found += choice.accuracies(head, data.X_test, data.y_test, [k])
    return Measured(chosen.C, found, chosen.seconds, seconds[0], peak_megabytes() - before)


def in_own_process(data: choice.ThreeParts, name: str) -> Measured:
    """Run `measured` in a forked process, which shares the data, and return its result."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(measured(data, name)))
    process.start()
    sender.close()
    found: Measured = receiver.recv()
    process.join()
    return found


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    print_line(HEADER)
    print_line("---" for _ in HEADER)
    names = [*choice.SETS, *choice.SEPARATIONS]
    for name, data in choice.data_sets(names[:1] if quick else names):
        for head in islice(choice.heads(data), 4 if quick else None):
            print_line((name, choice.shape(data), head, *in_own_process(data, head).cells()))
