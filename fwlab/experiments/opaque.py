"""List what code can read without a trace in its names: files, other programs, the environment.

A stored result cannot depend on such code. No list of this kind is complete; these are the usual
ways.
"""

from importlib import import_module

# functions and data that run or read things which the names in a function do not show
OPAQUE = {
    "builtins": ("__import__", "compile", "eval", "exec", "globals", "input", "open"),
    "importlib": ("import_module", "reload"),
    "numpy": ("fromfile", "genfromtxt", "load", "loadtxt"),
    "os": ("environ", "environb", "getenv", "open"),
    "sys": ("_getframe", "modules"),
}
# attributes that read or run something, whatever their owner
OPAQUE_ATTRIBUTES = {
    "Popen",
    "ZipFile",
    "__globals__",
    "__subclasses__",
    "check_output",
    "currentframe",
    "exec_module",
    "getline",
    "getlines",
    "iterdir",
    "listdir",
    "loadmat",
    "memmap",
    "open",
    "popen",
    "read_bytes",
    "read_csv",
    "read_text",
    "run_path",
    "scandir",
    "urlopen",
}
OPAQUE_IDS = {
    id(getattr(import_module(module), name)): f"{module}.{name}"
    for module, names in OPAQUE.items()
    for name in names
    if hasattr(import_module(module), name)
}
