"""A table keeps every row, every label and every name, or is refused in one sentence."""

import numpy as np
import pandas as pd
import pytest

from fwlab import datasets

ROWS = "1,2,a\n3,4,b\n5,6,a\n"


def write(folder, text, name="own.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path):
    with pytest.raises(ValueError, match=r"own\.csv'") as caught:
        datasets.read_file(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('1,2,a\n3,4,"b\n5,6,c\n7,8,d\n9,1,e\n', 2),
        ('1,2,a\n3,4,b\n5,6,"c\n', 3),
        ('1,2,a\n3,4,b\n5,6,"c', 3),
        ('1,2,a\n3,4,"b\n5,6,"c\n7,8,d\n', 2),
        ('1,2,a\n3,4,"b\n5,6,"c"\n7,8,d\n9,0,e\n', 2),
        ('1,2,a\n3,4,"b\n5,6,"\n7,8,d\n', 2),
        ('p,q,y\n1,2,"a""\n3,4,b\n5,6,c\n', 2),
        ('p,q,"y\n1,2,a\n3,4,b\n', 1),
        ('y,p\n\n"a,1\nb,2\nc,3\n', 3),
        ('y,p\n"a\nx",1\nb,2\n"c,3\n', 5),
        ('1;2;a\n3;4; "b\n5;6;c\n', 2),
    ],
)
def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path, text, line):
    said = refusal(write(tmp_path, text))
    assert f"line {line}: a quote opens and does not close" in said


@pytest.mark.parametrize("cell", ['"a"b', '"a" b', '"1"2', '"a"""b'])
def test_a_cell_that_goes_on_after_its_quotes_is_refused(tmp_path, cell):
    said = refusal(write(tmp_path, f"1,{cell},a\n2,3,b\n"))
    assert "line 1, column 2: the cell goes on after its closing quote" in said


@pytest.mark.parametrize(
    ("text", "names", "X", "labels"),
    [
        ('"1","2","a"\n"3","4","b"\n', None, [[1, 2], [3, 4]], ["a", "b"]),
        ('1,"a\nx"\n2,b\n', None, [[1], [2]], ["a\nx", "b"]),
        ('1,"a\r\n\r\nx"\r\n2,b\r\n', None, [[1], [2]], ["a\r\n\r\nx", "b"]),
        ('y,p\n"a\nb",2\n"a, b\nc, d",3\n', ("p",), [[2], [3]], ["a\nb", "a, b\nc, d"]),
        ('"Price\n(USD)","a, ""b""",y\n1,2,u\n3,4,v\n', ("Price\n(USD)", 'a, "b"'),
         [[1, 2], [3, 4]], ["u", "v"]),
        ('1 , " a" \n2, "b" ', None, [[1], [2]], [" a", "b"]),
        ('1 , "a" \n2, "b"', None, [[1], [2]], ["a", "b"]),
        ('1," a"\n2,a\n3, a \n" 4 ","b\t"\n', None, [[1], [2], [3], [4]], [" a", "a", "a", "b\t"]),
        ('1," 1 "\n2,1\n3,02\n', None, [[1], [2], [3]], [1, 1, 2]),
        ('" label",p\n1,7\n2,8\n', ("p",), [[7], [8]], [1, 2]),
        ('1,\t"a"\n2,\t"a"\n3,\u00a0"b"\n', None, [[1], [2], [3]], ["a", "a", "b"]),
        ('1\t "5" \t3\n2\t"6"\t4\n', None,
         [[1, 5], [2, 6]], [3, 4]),
        ("1,\t2,\ta\n3,\t4,\tb\n", None, [[1, 2], [3, 4]], ["a", "b"]),
        ("% label,p\n1,7\n2,8\n", ("p",), [[7], [8]], [1, 2]),
        ('1,""""\n2,"b """\n3,5" long\n', None, [[1], [2], [3]], ['"', 'b "', '5" long']),
        ('1\t"a\tb"\n2\tc\n', None, [[1], [2]], ["a\tb", "c"]),
        ("1,2,a\r3,4,b\r", None, [[1, 2], [3, 4]], ["a", "b"]),
    ],
)  # fmt: skip
def test_quotes_hold_separators_lines_and_quotes(tmp_path, text, names, X, labels):
    data = datasets.read_file(write(tmp_path, text))
    assert data.feature_names == names and data.X_train.tolist() == X
    assert [data.classes[j] for j in data.y_train] == labels


@pytest.mark.parametrize("text", [ROWS.encode("utf-16-le"), b"1,2,a\0\n3,4,a\n5,6,b\n"])
def test_a_zero_byte_is_refused(tmp_path, text):
    assert "line 1 holds a zero byte" in refusal(write(tmp_path, text))


def test_blanks_of_labels_are_the_same_in_quotes_and_in_npz(tmp_path):
    labels = [" a", "a", "a ", "b"]
    np.savez(tmp_path / "own.npz", X=np.eye(4), y=labels)
    rows = [f'{row},"{label}"' for row, label in enumerate(labels, start=3)]
    found = datasets.read_file(write(tmp_path, "\n".join(rows)))
    stored = datasets.read_file(tmp_path / "own.npz")
    assert found.classes == stored.classes == tuple(sorted(labels))


def test_an_empty_cell_in_quotes_is_no_blank_row(tmp_path):
    said = refusal(write(tmp_path, '1,a\n"",\n2,b\n'))
    assert "line 2: the label is empty" in said
    assert refusal(write(tmp_path, '1,a\n""\n2,b\n')).endswith("1 cells where the first has 2.")


@pytest.mark.parametrize(
    "text",
    [
        "1,5;2,5\n3,5;4,5\n",
        "1,5;2,5;a\n3,5;4,5;b\n",
        "1,2;0\n3,4;1\n",
        "1,2,3;0\n4,5,6;1\n",
        "1,234,567;a\n8,9;b\n",
        "1,5\t2,5\ta\n3,5\t4,5\tb\n",
        "1, 5; 0\n3, 5; 1\n",
    ],
)
def test_commas_between_cells_or_within_numbers(tmp_path, text):
    said = refusal(write(tmp_path, text))
    assert "line 1: " in said and "may have commas between its cells or within its numbers" in said


@pytest.mark.parametrize(
    ("text", "X", "labels"),
    [
        ("1,a;b\n2,c\n", [[1], [2]], ["a;b", "c"]),
        ("1;a,b\n2;c\n", [[1], [2]], ["a,b", "c"]),
        ("1;2;a,b,c,d\n3;4;e\n", None, "and text with commas in quotes"),
        ("a,b;c,d\n1,2;3,0\n", None, "'2;3' is not a finite number; put the same separator"),
        ('"1";"2";"a,b,c"\n3;4;e\n', [[1, 2], [3, 4]], ["a,b,c", "e"]),
        ("1.5\t2\tDoe, John\n2\t3\tRoe, Jane\n", [[1.5, 2], [2, 3]], ["Doe, John", "Roe, Jane"]),
    ],
)
def test_the_separator_of_the_first_line(tmp_path, text, X, labels):
    path = write(tmp_path, text)
    if X is None:
        assert labels in refusal(path)
        return
    data = datasets.read_file(path)
    assert data.X_train.tolist() == X and [data.classes[j] for j in data.y_train] == labels


# headers


@pytest.mark.parametrize("header", ["label,a,b", "a,b,kind", "a,b,class"])
def test_numpy_writes_its_header_after_a_mark(tmp_path, header):
    rows = [[0, 1, 1], [1, 2, 0], [2, 0, 1]]
    np.savetxt(tmp_path / "own.csv", rows, "%d", ",", header=header)
    data = datasets.read_file(tmp_path / "own.csv")
    column = 0 if header.startswith("label") else 2
    assert [data.classes[j] for j in data.y_train] == [row[column] for row in rows]
    assert data.feature_names == ("a", "b") and data.label_name == header.split(",")[column]


@pytest.mark.parametrize("first", [",1,2,kind", ",2019,2020,class", ",5,3,kind"])
def test_an_index_below_a_header_of_numbers(tmp_path, first):
    said = refusal(write(tmp_path, f"{first}\n0,4,5,a\n1,7,5,b\n2,8,6,a\n"))
    assert "the header has no name for column 1" in said


@pytest.mark.parametrize("first", ["# made by hand", "#1,2,a", "# 0,1,2", "#,a,b"])
def test_a_mark_before_what_is_no_header(tmp_path, first):
    path = write(tmp_path, f"{first}\n{ROWS}")
    if first == "#,a,b":  # a name of its own
        assert datasets.read_file(path).feature_names == ("#", "a")
        return
    assert f"line 1 begins with #: '{first}'; remove the line if it is a comment" in refusal(path)


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("0,1,2", "1.5,2.5,7\n3.5,4.5,8\n"),
        ("0,1,2", "3,4,5\n0,1,2\n"),
        ("0,1,2", "1,2,a\n3,4,b\n"),
        ("0,1,target", "1,2,a\n3,4,b\n"),
        ("0,1,target", "1,2,0\n3,4,1\n"),
        ("2019,2020,kind", "1,2,0\n3,4,1\n"),
        ("2019,2020,2021", "1,2,a\n3,4,b\n"),
        ("1,2,3", "1.5,2.5,7\n3.5,4.5,8\n"),
        ("1,2,3", "1.5,2.5,3\n3.5,4.5,1\n"),
        ("1,2,3,4", "1,5,2,1\n3,3,4,2\n"),
        ("1,2,3,4", "1,5,2,4\n3,3,4,2\n"),
        ("10,20,30", "1,2,0\n3,4,1\n"),
        ("2019,2020,2021", "5,7,0\n4,2,1\n"),
        ("2019,2020,2021,2022", "5.5,7,9,0\n4.5,2,6,1\n"),
        ("2019,2020,2021,kind", "5,7,8,a\n4,2,6,b\n"),
        ("900.5,901,901.5,species", "0.5,0.7,0.8,a\n0.4,0.2,0.6,b\n"),
        ("400,403,405,409,412,415,kind", "5,7,9,1,2,4,a\n4,2,6,7,1,0,b\n"),
        ("40,30,20,kind", "5,7,1,a\n4,2,6,b\n"),
        ("10,20,kind", "5.5,7,a\n4.1,2,b\n"),
        ("10,20", "5.5,0\n4.1,1\n"),
        ("1,2,target", "1,3,N\n3,4,b\n"),
        ("2021,2019,2020,Kind", "1,3,7,N\n3,4,2,b\n"),
        ("1,2,Y", "1,3,N\n3,4,?x\n"),
        ("5.1,2,label", "1,3,a\n3,4,b\n"),
        ("5.1,2,Class", "1,3,a\n3,4,CLASS\n"),
        ("0,1,Y", "1,3,y\n3,4,n\n"),
        ("Y,1,2", "n,3,4\nb,2,3\n"),
    ],
)
def test_a_header_of_numbers_is_no_sample_and_no_class(tmp_path, first, rest):
    said = refusal(write(tmp_path, f"{first}\n{rest}"))
    assert f"line 1: '{first}' may be a header or a sample; in both cases, write" in said


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("label", [2, "kind", "class"])
def test_a_frame_that_pandas_writes(tmp_path, index, label):
    frame = pd.DataFrame({0: [1.5, 2.5, 3.5], 1: [4.0, 5.0, 7.0], label: [7, 8, 7]})
    frame.to_csv(tmp_path / "own.csv", index=index)
    if label != "class" or index:
        assert ("no name for column 1" if index else "may be a header") in refusal(
            tmp_path / "own.csv"
        )
        return
    data = datasets.read_file(tmp_path / "own.csv")
    assert data.X_train.tolist() == [[1.5, 4], [2.5, 5], [3.5, 7]] and data.classes == (7, 8)
    assert data.feature_names == ("0", "1") and data.label_name == "class"


@pytest.mark.parametrize(
    ("text", "first", "labels"),
    [
        ("0,1\n1,0\n", [0], [1, 0]),  # as a header it would leave one class
        ("0,1,a\n2,3,b\n4,5,a\n", [0, 1], ["a", "b", "a"]),
        ("1,2,3\n4,5,6\n7,8,3\n", [1, 2], [3, 6, 3]),
        ("1,2,a\n3,4,1\n5,6,2\n7,8,b\n", [1, 2], ["a", "1", "2", "b"]),
        ("5,6,7\n8,9,10\n2,4,5\n", [5, 6], [7, 10, 5]),  # as is the next row
        ("3,7,0\n1,9,1\n2,2,1\n", [3, 7], [0, 1, 1]),
        ("1,3,5,1\n4,4,9,0\n2,7,3,1\n", [1, 3, 5], [1, 0, 1]),
        ("5,6,7,a\n1,9,4,b\n2,2,3,a\n", [5, 6, 7], ["a", "b", "a"]),
        ("0.1,0.2,0.3,a\n0.4,0.5,0.6,b\n0.7,0.8,0.9,c\n", [0.1, 0.2, 0.3], ["a", "b", "c"]),
        ("3,1\n1.5,0\n2.5,1\n", [3], [1, 0, 1]),
        ("-1e308,1e308,3,a\n1,-1e308,1e308,b\n2,1,2,c\n", [-1e308, 1e308, 3], ["a", "b", "c"]),
        ("3,4,a\n1,9,b\n2,2,c\n", [3, 4], ["a", "b", "c"]),
        ("1,2,Y\n2,3,N\n4,1,Y\n", [1, 2], ["Y", "N", "Y"]),
        ("1,2,y\n2,3,Y\n4,1,y\n", [1, 2], ["y", "Y", "y"]),
    ],
)
def test_a_first_sample_of_numbers_is_kept(tmp_path, text, first, labels):
    data = datasets.read_file(write(tmp_path, text))
    assert data.X_train[0].tolist() == first
    assert [data.classes[j] for j in data.y_train] == labels


def test_a_first_sample_without_any_feature_is_no_header(tmp_path):
    assert "column 1: '?' is not a finite" in refusal(write(tmp_path, "?,NA,a\n1,2,b\n3,4,a\n"))
    assert datasets.read_file(write(tmp_path, "Na,Mg,kind\n1,2,b\n3,4,a\n")).label_name == "kind"


@pytest.mark.parametrize(
    ("header", "rows", "names"),
    [
        ("2019,2020,y", "1,2,0\n3,4,1\n", ("2019", "2020")),
        ("label,1,2", "0,1,2\n1,3,4\n", ("1", "2")),
        ("age,2020,Label", "1,2,a\n3,4,b\n", ("age", "2020")),
        ("0,1,Y", "1,2,a\n3,4,b\n", ("0", "1")),
    ],
)
def test_a_header_with_numbers_that_is_no_sample(tmp_path, header, rows, names):
    assert datasets.read_file(write(tmp_path, f"{header}\n{rows}")).feature_names == names


# labels

PANDAS = sorted(pd._libs.parsers.STR_NA_VALUES)
MISSING = "NA ? null NULL None nan NaN n/a N/A <NA> NaT #N/A".split()


@pytest.mark.parametrize(
    "label",
    sorted(
        {
            *MISSING,
            *PANDAS,
            "Nan",
            "nAn",
            "<na>",
            "#n/a",
            "-1.#ind",
            "1.#INF00",
            "+nan",
            "#DIV/0!",
            "\\N",
        }
        - {""}
    ),
)
@pytest.mark.parametrize("others", ["ab", "12"])
def test_a_missing_label_is_no_class(tmp_path, label, others):
    text = f"1,2,{others[0]}\n3,4,{label}\n5,6,{others[1]}\n"
    assert f"line 2: the label is {label!r}, which stands for a" in refusal(write(tmp_path, text))
    np.savez(tmp_path / "own.npz", X=np.eye(3), y=[others[0], label, others[1]])
    with pytest.raises(ValueError, match=r"y of part train must hold a label in every row; row 1"):
        datasets.read_file(tmp_path / "own.npz")


@pytest.mark.parametrize("label", ["-", "none", "Na", "nat", "0", "inf"])
def test_what_may_be_a_name_is_a_class(tmp_path, label):
    text = f"1,2,+\n3,4,{label}\n5,6,+\n"
    assert set(datasets.read_file(write(tmp_path, text)).classes) == {"+", label}


@pytest.mark.parametrize("ending", ["csv", "svm"])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([2**53, 2**53 + 1, "1.0"], [2**53, 2**53 + 1, 1]),
        ([2**63, 2**63 + 1, 1], [2**63, 2**63 + 1, 1]),
        ([-(2**63), 1 - 2**63, 2**63 - 1], [-(2**63), 1 - 2**63, 2**63 - 1]),
        ([2**64, 2**64 + 1, 1], [str(2**64), str(2**64 + 1), "1"]),
        ([2**63, -1, 2**63 + 1], [str(2**63), "-1", str(2**63 + 1)]),
        (["1.0000000000000000001", 1, 2], ["1.0000000000000000001", "1", "2"]),
        (["1", "1.0", "01", "+1", "1e0", "10e-1", "2"], [1] * 6 + [2]),
        (["-0", "0", "0.0", "1"], [0, 0, 0, 1]),
    ],
)
def test_labels_are_apart_if_their_numbers_are(tmp_path, ending, labels, classes):
    form = {"csv": "3,{}", "svm": "{} 1:3"}[ending]
    text = "\n".join(form.format(label) for label in labels)
    data = datasets.read_file(write(tmp_path, text, f"own.{ending}"))
    assert [data.classes[j] for j in data.y_train] == classes
    assert [type(label) for label in data.classes] == [type(classes[0])] * data.n_classes


@pytest.mark.parametrize("last", [("3,5", "4,5"), ("3,5", "4"), ("1,234", "5,678")])
def test_labels_that_are_numbers_with_a_comma(tmp_path, last):
    said = refusal(write(tmp_path, "".join(f'1;2;"{label}"\n' for label in last)))
    assert f"the labels are numbers with a comma, such as {last[0]!r}; write" in said


def test_many_huge_numbers_are_targets_of_a_regression(tmp_path):
    rows = [f"1,{10**20 + number}" for number in range(60)]
    assert "must hold class labels" in refusal(write(tmp_path, "\n".join(rows)))


def test_two_forms_of_one_text_are_refused(tmp_path):
    said = refusal(write(tmp_path, "1,\u00e9\n2,e\u0301\n3,b\n"))
    assert r"the labels 'e\u0301' and '\xe9' are the same text in two forms of Unicode" in said
