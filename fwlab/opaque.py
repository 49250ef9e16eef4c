"""The usual ways of code to read, or to run, what no name in it shows: files, programs, other code.

A computation that uses one of them cannot be identified.
"""

import sys

# functions and data ..
OPAQUE = {
    "builtins": ("__import__", "compile", "eval", "exec", "globals", "input", "open"),
    "fwlab.datasets": ("load", "read_file"),
    "fwlab.experiments": ("DataName",),
    "importlib": ("import_module", "reload"),
    "joblib": ("load",),
    "numpy": ("fromfile", "genfromtxt", "load", "loadtxt"),
    "os": ("environ", "environb", "getenv", "open", "system"),
    "subprocess": ("call", "check_call", "run"),
    "sys": ("_getframe", "modules"),
}
HINTS = dict.fromkeys(("fwlab.datasets", "fwlab.experiments"), "; pass the data as a setting")
# .. and attributes, whatever their owner
OPAQUE_ATTRIBUTES = set(
    "ConfigParser FileIO Popen ZipFile __globals__ __subclasses__ check_output currentframe "
    "exec_module fromregex get_data getline getlines getmtime getsize glob iglob iterdir listdir "
    "load_npz loadmat lstat memmap mmread open popen read_bytes read_csv read_excel read_feather "
    "read_fwf read_hdf read_json read_parquet read_pickle read_sql read_table read_text rglob "
    "run_path scandir st_mtime st_size urlopen".split()
)


def opaque_import(full: str, reached: set[str]) -> str:
    """Return what opaque thing an import inside a function leads to, "" if none is known.

    `reached` are the names that the function imports, and all attributes that it reads.
    """
    for module, names in OPAQUE.items():
        inside = f"{module}.".removeprefix(f"{full}.").split(".")[:-1]
        if f"{module}.".startswith(f"{full}.") and {*inside} <= reached:
            found = sorted(reached.intersection(names))
            if found:
                return f"{module}.{found[0]}{HINTS.get(module, '')}"
    return ""


def opaque_objects() -> dict[int, str]:
    """Return the names of opaque functions and data by id, of those modules that are loaded."""
    return {
        id(vars(module)[name]): f"{module.__name__}.{name}{HINTS.get(module.__name__, '')}"
        for module in filter(None, map(sys.modules.get, OPAQUE))
        for name in OPAQUE[module.__name__]
        if name in vars(module)
    }
