"""A saved file is read as it was written, or refused in a sentence that names it."""

import dataclasses
import random
import struct
import zipfile

import numpy as np
import pytest
from saved import SAVED, loaded, same

import fwlab
from fwlab import datasets
from fwlab.npz import Archive, Saved, map_npy, read_npy, saved_arrays, write_arrays

pytestmark = pytest.mark.small
each_kind = pytest.mark.parametrize("owner", SAVED)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.npz"


def arrays_of(owner, path):
    """Return the arrays of a saved file, by name."""
    SAVED[owner].save(path)
    with np.load(path) as stored:
        return dict(stored)


@each_kind
def test_what_is_read_is_what_was_written(owner, path):
    SAVED[owner].save(path)
    assert same(loaded(owner, path), SAVED[owner])


@each_kind
def test_every_array_that_is_written_is_described(owner, path, monkeypatch):
    """A name that is left out of a form would be lost in silence."""
    read = []
    plain = Archive.__getitem__
    monkeypatch.setattr(Archive, "__getitem__", lambda self, n: read.append(n) or plain(self, n))
    whole = arrays_of(owner, path)
    loaded(owner, path)
    assert set(read) == set(whole)


@each_kind
def test_a_later_version_may_add_arrays(owner, path):
    np.savez(path, **arrays_of(owner, path), model_later=np.ones(3), later=np.ones(2))
    assert same(loaded(owner, path), SAVED[owner])


def changed(owner, path, draws):
    """Yield a sentence and the content of a damaged file, `draws` times."""
    SAVED[owner].save(path)
    whole, rng = path.read_bytes(), random.Random(0)
    for _ in range(draws):
        place, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
        yield whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
        yield whole[: rng.randrange(len(whole))]


def outcome(owner, path):
    """Return "refused", or whether what the file holds is what was saved."""
    try:
        return same(loaded(owner, path), SAVED[owner])
    except ValueError as error:
        said = str(error)
        assert said.startswith(f"path must name a file that {owner}.save wrote; got {path}: ")
        assert "\n" not in said
        return "refused"


@each_kind
@pytest.mark.parametrize("draws", [30, pytest.param(2000, marks=pytest.mark.deep)])
def test_a_changed_byte_or_a_cut_is_seen(owner, draws, path):
    seen = []
    for content in changed(owner, path, draws):
        path.write_bytes(content)
        seen.append(outcome(owner, path))
    assert set(seen) == {"refused", True}  # some bytes hold dates and the like


@each_kind
def test_each_array_that_is_missing_is_missed(owner, path):
    whole = arrays_of(owner, path)
    optional = {"classes", "W", "delta", "gap_error", "distance", "wall_seconds", "made_by"}
    # a run on tensors may keep no A
    optional |= {"A", "coefficients", "model_label_name", "model_index_base", "machine_shift"}
    # files of an earlier release have neither
    optional |= {name for name in whole if name.startswith("own_")} | {"cpu_seconds", "radius"}
    for name in whole:
        np.savez(path, **{other: array for other, array in whole.items() if other != name})
        assert (outcome(owner, path) == "refused") == (name not in optional), name


@each_kind
def test_each_array_of_another_kind_or_shape_is_refused(owner, path):
    whole = arrays_of(owner, path)
    for name, array in whole.items():
        if name.startswith("own_"):
            continue
        for other in (np.array([array, array]), array.astype(complex) if is_real(array) else 1j):
            np.savez(path, **{**whole, name: other})
            assert outcome(owner, path) == "refused", (name, other)


def is_real(array):
    return array.dtype.kind == "f"


BAD_MODELS = {
    "NaN": ({"W": np.full((2, 3), np.nan)}, "'model_W' must be finite"),
    "infinity": ({"intercept": np.array([0.0, np.inf])}, "'model_intercept' must be finite"),
    "three rows": ({"W": np.ones((3, 3))}, r"'model_intercept' must be \(3,\)"),
    "three classes": ({"classes": np.arange(3)}, r"'model_classes' must be \(2,\); its shape is"),
    "complex": ({"W": np.ones((2, 3)) * 1j}, "'model_W' must not have the dtype complex128"),
    "twice": ({"classes": np.array(["a", "a"])}, "it names a class twice"),
    "NaN class": ({"classes": np.array([0.0, np.nan])}, "'model_classes' must be finite"),
    "two names": ({"feature_names": '["a", "b"]'}, "it must name 3 features or none"),
    "a number": ({"feature_names": '["a", "b", 3]'}, "it must name 3 features or none"),
    "a word": ({"feature_names": '"abc"'}, "it must name 3 features or none"),
    "unknown scaling": ({"scaling_normalize": "log"}, "normalize must be None, 'unit' or"),
    "another scaling": ({"scaling_normalize": "unit"}, "'unit' does not fit the other parts"),
    "width": ({"scaling_mean": np.ones(4)}, r"'model_scaling_mean' must be \(3,\)"),
    "zero": ({"scaling_deviation": np.zeros(3)}, "a deviation must be > 0"),
    "settings": ({"settings": "[1]"}, r"names and values must be stored in it; got \[1\]"),
    "label": ({"label_name": "3"}, "a label or an index cannot be 3 or 1"),
    "index base": ({"index_base": "2"}, "a label or an index cannot be 'fruit' or 2"),
    "no JSON": ({"certificate": "{"}, "Expecting property name"),
}


@pytest.mark.parametrize(("changes", "said"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_model_that_cannot_predict_is_refused(changes, said, path):
    whole = arrays_of("Model", path)
    changes = {f"model_{name}": value for name, value in changes.items()}
    np.savez(path, **{**whole, **changes})
    with pytest.raises(ValueError, match=said):
        fwlab.Model.load(path)


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=["object", "string"])
def test_classes_of_python_objects_are_saved_as_texts(dtype, path):
    classes = np.array(["pear", "a fig"], dtype=dtype)
    model = dataclasses.replace(SAVED["Model"], classes=classes)
    model.save(path)
    assert fwlab.Model.load(path).classes.tolist() == ["pear", "a fig"]


def test_models_of_earlier_versions_are_read(path):
    whole = arrays_of("Model", path)
    later = ("model_label_name", "model_index_base")
    np.savez(path, **{name: a for name, a in whole.items() if name not in later})
    old = dataclasses.replace(SAVED["Model"], label_name=None, index_base=None)
    assert same(fwlab.Model.load(path), old)
    plain = {n: a for n, a in whole.items() if not n.startswith("model_scaling")}
    np.savez(path, **{**plain, "model_feature_names": "null", "model_W": np.ones((2, 3), int)})
    model = fwlab.Model.load(path)
    assert model.scaling.normalize is None and model.feature_names is None
    assert model.predict(np.ones((1, 3))).tolist() == ["pear"]


BAD_INDICES = {
    "A_indices": np.array([0, 1, 0, 9], np.int32),
    "A_indptr": np.array([0, 2, 4, 9], np.int32),
    "A_shape": np.array([3, 5]),
    "A_data": np.array([0.5, np.nan, 0.0, 0.0]),
}


@pytest.mark.parametrize("name", BAD_INDICES)
def test_indices_that_do_not_fit_are_refused(name, path):
    whole = arrays_of("PackedResult", path)
    np.savez(path, **{**whole, name: BAD_INDICES[name]})
    assert outcome("PackedResult", path) == "refused"


@pytest.mark.parametrize(
    "changes",
    [
        {"machine_kernel": "linear"},
        {"machine_kernel": "cubic"},
        {"machine_coefficients": np.ones(3)},
        {"machine_rows_indices": np.array([0, 9, 1])},
    ],
)
def test_a_ranking_machine_that_does_not_fit_is_refused(changes, path):
    np.savez(path, **{**arrays_of("ranking.Result", path), **changes})
    assert outcome("ranking.Result", path) == "refused"


@pytest.mark.parametrize("changes", [{"chunks": 1}, {"chunks": 10**12}, {"checkpoint": 2}])
def test_a_checkpoint_of_other_chunks_or_version_is_refused(changes, path):
    np.savez(path, **{**arrays_of("Checkpoint", path), **changes})
    found = outcome("Checkpoint", path)
    assert found == ("refused" if changes != {"chunks": 1} else False)


# what the archive itself says


def archive(path, **members):
    """Write the members, and return the content of the archive."""
    np.savez(path, **members)
    return path.read_bytes()


def refusal(path, content):
    """Return why an archive with the arrays W and c is refused, "" if it is not."""
    path.write_bytes(content)
    form = {"W": Saved("f", ("m", "d")), "c": Saved("f", ("m",), required=False)}
    try:
        with saved_arrays(path, "Owner", form) as arrays:
            assert sorted(arrays) == ["W", "c"]
    except ValueError as error:
        return str(error)
    return ""


def test_a_directory_that_lost_its_last_names_is_refused(path):
    """The longer comment of a name would swallow the names behind it, and with them classes."""
    whole = archive(path, W=np.eye(2), c=np.ones(2))
    assert refusal(path, whole) == ""
    first = whole.index(b"PK\1\2")
    swallowed = bytearray(whole)
    swallowed[first + 32 : first + 34] = struct.pack("<H", 52)  # the length of the second name
    assert len(zipfile.ZipFile(_file(path, swallowed)).namelist()) == 1
    assert "its directory is damaged" in refusal(path, bytes(swallowed))


def test_a_name_that_was_changed_in_the_directory_is_refused(path):
    whole = archive(path, W=np.eye(2), c=np.ones(2))
    place = whole.rindex(b"c.npy")
    assert "differ" in refusal(path, whole[:place] + b"k" + whole[place + 1 :])


def test_a_name_that_occurs_twice_is_refused(path):
    with zipfile.ZipFile(path, "w") as file, pytest.warns(UserWarning, match="Duplicate name"):
        for _ in range(2):
            with file.open("W.npy", "w") as member:
                np.lib.format.write_array(member, np.eye(2))
    assert "its directory is damaged" in refusal(path, path.read_bytes())


def test_an_archive_with_a_comment_is_read(path):
    archive(path, W=np.eye(2), c=np.ones(2))
    with zipfile.ZipFile(path, "a") as file:
        file.comment = b"from my colleague"
    assert refusal(path, path.read_bytes()) == ""


def header(rows, dtype="<f8"):
    text = repr({"descr": dtype, "fortran_order": False, "shape": (rows,)}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


HUGE = {"many rows": header(2**40), "negative": header(-3), "long text": header(1, "<U500000000")}


@pytest.mark.parametrize("content", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_array_that_says_it_is_huge_takes_no_memory(content, compression, path):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name in ("X", "y", "W"):
            file.writestr(f"{name}.npy", content)
    assert "array 'W' is unreadable (its header says" in refusal(path, path.read_bytes())
    with pytest.raises(ValueError, match=r"file\.npz': the array 'X' is unreadable \(its header"):
        datasets.read_file(path)
    lone = path.with_suffix(".npy")
    lone.write_bytes(content)
    for read in (read_npy, map_npy):
        with pytest.raises(ValueError, match=r"file\.npy': it is no whole .npy file \(its header"):
            read(lone)


def test_an_archive_that_says_it_is_huge_takes_no_memory(path):
    """The directory agrees with the header, and the bytes cannot become that many."""
    content = header(2**40)
    size = len(content) + 2**43
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("W.npy", content)
        file.filelist[0].file_size = size
    assert "it is longer than its bytes" in refusal(path, path.read_bytes())


@pytest.mark.parametrize("read", [read_npy, map_npy])
def test_a_changed_header_of_an_npy_file_is_one_sentence(read, tmp_path):
    path, rng = tmp_path / "X.npy", random.Random(0)
    np.save(path, np.arange(12.0).reshape(4, 3))
    whole = path.read_bytes()
    assert (read(path) == np.arange(12.0).reshape(4, 3)).all()
    for _ in range(100):
        place = rng.randrange(128)
        path.write_bytes(whole[:place] + bytes([rng.randrange(256)]) + whole[place + 1 :])
        try:
            read(path)
        except ValueError as error:
            assert str(error).startswith(f"{str(path)!r}: it ") and "\n" not in str(error)
    for length in range(0, len(whole), 9):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="it is no whole"):
            read(path)


def test_python_objects_are_neither_written_nor_read(path, tmp_path):
    with pytest.raises(TypeError, match="W must hold numbers or texts; got an array of object"):
        write_arrays(path, {"W": np.array([{}])})
    assert not path.exists()
    np.save(tmp_path / "X.npy", np.array([{}]))
    for read in (read_npy, map_npy):
        with pytest.raises(ValueError, match="it holds Python objects, which are not read"):
            read(tmp_path / "X.npy")


def _file(path, content):
    path.write_bytes(content)
    return path
