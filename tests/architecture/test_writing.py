"""Only fwlab.files opens files for writing: it follows links, names files, and leaves no halves."""

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    str(file.relative_to(ROOT))
    for folder in ("fwlab", "figures", "paper_checks")
    for file in sorted((ROOT / folder).rglob("*.py"))
]
# who may write by other means, and why
APART = {
    "fwlab/files.py": "is the writer",
    "fwlab/experiments/lock.py": "locks a file that it keeps open",
    "fwlab/kernels/_machine_code.py": "stores code in private folders, below the other layers",
    "fwlab/streams.py": "sends what nobody reads to the null device",
    "fwlab/docs/*": "writes the sources of the site to a temporary folder of its own",
    "figures/benchmarks/*": "fills temporary folders with samples, larger than memory",
    "paper_checks/mutation/forks.py": "sends what a mutant prints to the null device",
}
METHODS = {
    *("write_text", "write_bytes", "touch", "rename", "symlink_to", "hardlink_to", "savefig"),
    *("save", "savez", "savez_compressed", "savetxt", "tofile", "dump", "copyfile", "copy2"),
    *("copytree", "move", "truncate", "mkfifo", "imsave"),
}
# objects have methods of their own with these names
OF_MODULES = {"save", "dump", "move"}
MODULES = {"np", "numpy", "json", "pickle", "joblib", "shutil"}
WRITING = set("wax+")


def writes(source: str) -> list[str]:
    """Return the calls of a source that open a file for writing, apart from the writer's."""
    found = []
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            if name_of(node) == "write_atomically":
                continue  # what it calls gets an open file
            if opens(node):
                found.append(ast.unparse(node))
        waiting += ast.iter_child_nodes(node)
    return found


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def opens(call: ast.Call) -> bool:
    """Return whether a call opens a file for writing."""
    name = name_of(call)
    if name not in (*METHODS, "replace", "open", "open_memmap", "ZipFile", "fdopen"):
        return False
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name in METHODS:
        return name not in OF_MODULES or owner in MODULES
    if name == "replace":  # of strings it takes two arguments, of data classes it is a function
        return owner == "os" or (owner != "" and len(call.args) == 1 and not call.keywords)
    is_method = name == "open" and owner not in ("", "os", "bz2", "gzip")
    modes = call.args[:1] if is_method else call.args[1:2]
    modes += [word.value for word in call.keywords if word.arg == "mode"]
    # a method that is given no text opens a member of an archive, or a picture
    known = [str(mode.value) for mode in modes if isinstance(mode, ast.Constant)]
    unknown = len(known) < len(modes) and not is_method
    return unknown or bool(WRITING & set("".join(known)))


def apart(file: str) -> bool:
    return any(fnmatch(file, pattern) for pattern in APART)


@pytest.mark.parametrize("file", FILES)
def test_no_file_is_written_by_other_means(file):
    assert apart(file) or writes((ROOT / file).read_text()) == []


@pytest.mark.parametrize("pattern", APART)
def test_those_who_write_by_other_means_need_to(pattern):
    assert any(writes((ROOT / file).read_text()) for file in FILES if fnmatch(file, pattern))


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'w')",
        "path.open('a', encoding='utf-8')",
        "path.open(mode='xb')",
        "open(path, mode)",
        "os.open(path, os.O_WRONLY)",
        "bz2.open(path, 'wb')",
        "path.write_text(text)",
        "figure.savefig(path)",
        "np.savez(path, A=A)",
        "json.dump(record, file)",
        "draft.replace(path)",
        "os.replace(draft, path)",
        "shutil.move(draft, path)",
        "np.lib.format.open_memmap(path, 'w+')",
        "with path.open('w') as file: write_atomically(path, lambda file: file.write(b''))",
    ],
)
def test_writing_is_seen(source):
    assert len(writes(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open(path)",
        "path.open('rb')",
        "path.open(newline='', encoding='utf-8')",
        "zip.open(member)",
        "text.replace('a', 'b')",
        "replace(result, status=status)",
        "result.save(path)",
        "write_atomically(path, lambda file: figure.savefig(file))",
        "np.lib.format.open_memmap(path, mode='r')",
    ],
)
def test_reading_is_not(source):
    assert writes(source) == []
