"""X that changes after the problem was made is noticed on the next read of it."""

import re

import numpy as np
import pytest
import scipy.sparse
from out_of_core import RowChunks, out_of_core, saved, saved_csr
from scipy.sparse import csr_array

import fwlab
from fwlab import distributed
from fwlab.distributed import CsrFiles, DaskProblem, OutOfCoreProblem
from fwlab.distributed.dask.worker import Opening, open_block
from fwlab.distributed.same_chunks import WORDS, checksum

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 4
INSIDE = fwlab.Problem(X, Y, fwlab.TopK(2), 0.1)
ROWS = 14
CHANGED = "rows 14 to 27 are not what they were on the first read"
# forms of X in which rows can be changed: how they are made, and the beginning of the sentence
FORMS = {
    "file": "'{folder}/X.npy' must not change while a problem uses it; ",
    "memory map": "'{folder}/X.npy' must not change while a problem uses it; ",
    "csr files": "'{folder}/data.npy' and '{folder}/indices.npy' must not change while a problem ",
    "array": "X must not change while a problem uses it; ",
    "csr matrix": "X must not change while a problem uses it; ",
    "iterable": "X must give the same chunks of rows each time, never shuffled; ",
}


def given(form, folder):
    """Return X in some form, and a function that writes other rows of X to where it lies."""
    if form in ("file", "memory map"):
        path = saved(folder, X)
        mapped = np.load(path, mmap_mode="r+")

        def to_file(changed):
            mapped[:] = changed
            mapped.flush()

        return (mapped if form == "memory map" else path), to_file
    if form == "csr files":
        return saved_csr(folder, X), lambda changed: saved_csr(folder, changed)
    if form == "csr matrix":
        matrix = scipy.sparse.csr_matrix(X)

        def to_matrix(changed):
            other = scipy.sparse.csr_matrix(changed)
            matrix.data[:], matrix.indices[:] = other.data, other.indices

        return matrix, to_matrix
    held = X.copy()

    def to_array(changed):
        held[:] = changed

    return (RowChunks(held, ROWS) if form == "iterable" else held), to_array


def other_rows(change):
    """Return X with a change in its rows 14 to 27 alone."""
    other = X.copy()
    if change == "scaled":
        other[20] *= 10
    elif change == "one bit":
        other[27, -1] = np.nextafter(other[27, -1], np.inf)
    elif change == "signs":
        other[20] *= -1
    else:
        other[14], other[27] = X[27], X[14]
    return other


def sentence(form, folder):
    return re.escape(FORMS[form].format(folder=folder))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("change", ["scaled", "one bit", "signs", "swapped"])
def test_rows_changed_before_the_run_are_named(form, change, tmp_path):
    source, write = given(form, tmp_path)
    problem = OutOfCoreProblem(source, Y, INSIDE.loss, INSIDE.lam, n_classes=4, chunk_rows=ROWS)
    write(other_rows(change))
    with pytest.raises(ValueError, match=f"{sentence(form, tmp_path)}.*{CHANGED}"):
        distributed.solve(problem, tol=0.0, max_iter=3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["ascent", "bcfw", "fw"])
def test_rows_changed_during_the_run_are_named(form, method, tmp_path):
    source, write = given(form, tmp_path)
    problem = OutOfCoreProblem(source, Y, INSIDE.loss, INSIDE.lam, n_classes=4, chunk_rows=ROWS)

    def change(progress):
        if progress.iteration == 2:
            write(other_rows("swapped"))

    with pytest.raises(ValueError, match=f"{sentence(form, tmp_path)}.*{CHANGED}"):
        distributed.solve(problem, method, tol=0.0, max_iter=4, check_every=1, callback=change)


def test_rows_changed_after_the_last_pass_are_not_certified():
    held = X.copy()
    problem = out_of_core(INSIDE, ROWS, held)

    def change(progress):
        held[20] *= -1
        raise StopIteration

    with pytest.raises(ValueError, match=CHANGED):
        distributed.solve(problem, max_iter=1, check_every=1, callback=change)


def test_a_loader_that_shuffles_anew_is_named():
    class Shuffling(RowChunks):
        rng = np.random.default_rng(0)

        def __iter__(self):
            order = self.rng.permutation(len(self.X))
            yield from RowChunks(self.X[order], self.rows)

    problem = out_of_core(INSIDE, ROWS, Shuffling(X, ROWS))
    with pytest.raises(ValueError, match="X must give the same chunks of rows each time, never sh"):
        distributed.solve(problem, max_iter=2)


def test_another_lam_is_solved_on_the_rows_of_the_first_read():
    held = X.copy()
    problem = out_of_core(INSIDE, ROWS, held)
    points = distributed.path(problem, [0.1, 1.0], max_iter=3)
    next(points)
    held[20] *= -1
    with pytest.raises(ValueError, match=CHANGED):
        next(points)


def test_a_run_goes_on_once_the_rows_are_back():
    held = X.copy()
    problem = out_of_core(INSIDE, ROWS, held)
    plain = distributed.solve(problem, max_iter=4)
    held[:] = other_rows("scaled")
    with pytest.raises(ValueError, match=CHANGED):
        distributed.solve(problem, max_iter=4)
    held[:] = X
    np.testing.assert_array_equal(distributed.solve(problem, max_iter=4).W, plain.W)


def test_validation_rows_must_stay_what_they_were_for_the_first_accuracy():
    held = X.copy()
    problem = out_of_core(INSIDE, ROWS)
    validation = distributed.ValidationSet(held, Y, problem)
    points = distributed.path(problem, [0.1, 1.0], validation=validation, max_iter=3)
    next(points)
    held[:] = other_rows("swapped")
    with pytest.raises(ValueError, match=CHANGED):
        next(points)


def test_labels_weights_and_costs_are_taken_when_the_problem_is_made(tmp_path):
    """Changing the arrays of the caller afterwards has no effect."""
    y, weight, costs = Y.copy(), np.linspace(0.5, 1.5, 40), 1.0 - np.eye(4)
    labels = tmp_path / "y.npy"

    def made(given_y):
        loss = fwlab.StructuredHinge(costs)
        return OutOfCoreProblem(X, given_y, loss, 0.1, sample_weight=weight, chunk_rows=ROWS)

    plain = distributed.solve(made(y), max_iter=3)
    np.save(labels, y)
    problems = made(y), made(labels)
    y[:], weight[:], costs[:] = 0, 1.0, 0.0
    np.save(labels, y)
    for problem in problems:
        np.testing.assert_array_equal(distributed.solve(problem, max_iter=3).W, plain.W)


# ------------------------------------------------------------------------------------ on a cluster


@pytest.fixture
def on_the_cluster(client):
    """Return a function that makes a problem of X, which the workers, threads here, share."""

    def made(held, **options):
        problem = DaskProblem(
            held, Y, INSIDE.loss, INSIDE.lam, n_classes=4, client=client, **options
        )
        assert len(problem.partitions) == 3
        return problem

    return made


DASK_ROWS = "rows 13 to 25 are not what they were on the first read"


def test_rows_on_a_cluster_changed_before_the_run_are_named(on_the_cluster):
    held = X.copy()
    problem = on_the_cluster(held, n_partitions=3)
    held[20] *= -1
    with pytest.raises(ValueError, match=f"X must not change .*{DASK_ROWS}"):
        distributed.solve(problem, max_iter=2)


@pytest.mark.parametrize("last", [False, True])
def test_rows_on_a_cluster_changed_during_the_run_are_named(on_the_cluster, last):
    held = X.copy()
    problem = on_the_cluster(held, n_partitions=3)

    def change(progress):
        if progress.iteration == 1:
            held[20] *= -1
            if last:
                raise StopIteration

    with pytest.raises(ValueError, match=f"X must not change .*{DASK_ROWS}"):
        distributed.solve(problem, tol=0.0, max_iter=9, check_every=1, callback=change)


def test_a_block_does_not_open_on_rows_that_changed(on_the_cluster):
    problem = on_the_cluster(X, n_partitions=3)
    setup, A = problem.setups()[1], [csr_array((13, 4))]
    assert open_block(X[13:26], Opening(setup, A, 0)).held.version == 0
    with pytest.raises(ValueError, match=f"X must not change .*{DASK_ROWS}"):
        open_block(-X[13:26], Opening(setup, A, 0))


def negate(rows):
    """Change a partition that a worker holds."""
    rows *= -1.0


def test_a_persisted_partition_that_a_task_changed_is_named(on_the_cluster, client):
    array = pytest.importorskip("dask.array")
    problem = on_the_cluster(array.from_array(X, chunks=((13, 13, 14), 5)))
    rows, home = problem.placement.data[1], problem.placement.homes[1]
    client.submit(negate, rows, workers=[home], pure=False).result()
    with pytest.raises(ValueError, match=f"X must not change .*{DASK_ROWS}"):
        distributed.solve(problem, max_iter=2)


def test_a_file_read_again_after_a_loss_must_be_the_same(on_the_cluster, tmp_path):
    path = saved(tmp_path, X)
    problem = on_the_cluster(path, n_partitions=3)
    plain = distributed.solve(problem, max_iter=2)
    saved(tmp_path, -X)
    # the workers hold the rows of the first read
    np.testing.assert_array_equal(distributed.solve(problem, max_iter=2).W, plain.W)
    problem.placement.move([1])
    with pytest.raises(ValueError, match=f"{re.escape(repr(str(path)))} must .*{DASK_ROWS}"):
        distributed.solve(problem, max_iter=2)


# ---------------------------------------------------------------------------------- the checksum


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 7, 2 * WORDS, 2 * WORDS + 3])
def test_a_change_of_any_bit_changes_the_checksum(dtype, size):
    array = np.random.default_rng(0).normal(size=(size, 1)).astype(dtype)
    plain = checksum(array)
    assert checksum(array.copy()) == plain
    places = {0, size // 2, size - 1}
    for place in places:
        for bit in (0, 1, 30, 31, 63) if dtype == np.float64 else (0, 22, 31):
            changed = array.copy()
            changed.view(f"u{array.itemsize}")[place, 0] ^= 1 << bit
            assert checksum(changed) != plain, (place, bit)


@pytest.mark.parametrize("row_length", [1, 4, 512, 4096])
def test_exchanged_rows_change_the_checksum(row_length):
    X = np.random.default_rng(0).normal(size=(1024, row_length))
    plain = checksum(X)
    for i, j in ((0, 1), (2, 33), (0, 1023)):
        changed = X.copy()
        changed[[i, j]] = X[[j, i]]
        assert checksum(changed) != plain


def test_a_zero_and_a_one_exchanged_change_the_checksum():
    """The bits in which they differ are few, and at the same places in each number.

    With words of 64 bits, one exchange in 1024 would not show.
    """
    X = np.zeros((WORDS // 2, 1))
    X[1::2] = 1.0
    plain = checksum(X)
    for i in range(0, 40, 2):
        for j in range(1, WORDS // 2, 2):
            X[i], X[j] = 1.0, 0.0
            assert checksum(X) != plain, (i, j)
            X[i], X[j] = 0.0, 1.0


def test_types_and_shapes_and_all_parts_of_a_matrix_count():
    ones = np.ones((4, 6))
    csr = scipy.sparse.csr_matrix(ones)
    others = [ones.T, ones.astype(np.float32), ones.reshape(2, 12), csr]
    for name in ("data", "indices", "indptr"):
        changed = csr.copy()
        getattr(changed, name)[1] += 1
        others.append(changed)
    assert len({checksum(X) for X in (ones, *others)}) == 8
    assert checksum(np.asfortranarray(ones)) == checksum(ones)


def test_a_path_of_labels_is_read(tmp_path):
    names = np.array(["d", "a", "c", "b"])[Y]
    np.save(tmp_path / "y.npy", names)
    problem = OutOfCoreProblem(X, tmp_path / "y.npy", INSIDE.loss, 0.1)
    np.testing.assert_array_equal(problem.classes, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(problem.classes[problem.y], names)
    validation = distributed.ValidationSet(X, str(tmp_path / "y.npy"), problem)
    np.testing.assert_array_equal(validation.codes, problem.y)


@pytest.mark.parametrize("name, content, words", [
    ("none.npy", None, "y must name an existing .npy file; got '.*none.npy'"),
    ("text.npy", b"1\n2\n", "y must name a whole .npy file of numbers; .*text.npy"),
    ("objects.npy", np.array([1, "a"], dtype=object), "y must name a whole .npy file of numbe"),
    ("square.npy", np.ones((3, 3)), "y must be 1-D; got shape"),
])  # fmt: skip
def test_a_file_that_holds_no_labels_is_refused(name, content, words, tmp_path):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        OutOfCoreProblem(X, path, INSIDE.loss, 0.1)


def test_csr_files_name_both_files(tmp_path):
    assert isinstance(source := saved_csr(tmp_path, X), CsrFiles)
    assert "data.npy' and '" in source.demand and "indices.npy'" in source.demand
