"""Every module of mathematics in fwlab has a planted defect, and every folder of figures."""

from fnmatch import fnmatch

from planted_defects import ROOT, read_defects

# patterns of modules without mathematics, each with what they hold instead
NO_MATHEMATICS = {
    "text": "sentences",
    "files": "files written atomically",
    "npz": "arrays in files",
    "say": "lines on the terminal",
    "provenance": "versions and dates",
    "release": "the version",
    "plot": "curves drawn from given arrays",
    "docs.*": "pages of the site",
    "__main__": "the command line",
    "cli.options": "flags and their sentences",
    "cli.reports": "sentences on data, versions and folders",
    "problem": "arguments, checked one by one",
    "checks.arguments": "checks of types and shapes",
    "command": "exit codes and sentences",
    "launch": "Ctrl-C",
    "public": "names",
    "torch_losses": "torch, which the planted runs lack; tests/mathematics/test_torch_losses.py",
    "torch_projection": "torch, which the planted runs lack",
    "operators.host_rows": "torch, which the planted runs lack; tests/solvers/test_host_rows.py",
    "operators.precision": "settings of torch",
    "estimators.tensors": "which samples stay tensors, and sentences",
    "estimators.callbacks": "tasks that callbacks of scikit-learn see",
    "cli.suite": "methods in files, and what is printed",
    "cli.suite_options": "flags and their sentences",
    "cli.main": "the start of the command line",
    "streams": "stdout and stderr",
    "toml_text": "text in a file format",
    "kernels._jit": "how functions are compiled",
    "kernels._lowered": "how functions are compiled",
    "kernels._machine_code": "the cache of machine code",
    "kernels._plain": "how functions are compiled",
    "kernels._prefetch": "hints to the processor",
    "kernels._stored_code": "the cache of machine code",
    "kernels.layouts": "names of arrays",
    "operators.features_interface": "names of products",
    "solvers.auto": "the choice of a method",
    "solvers.compiling": "a clock on the terminal",
    "solvers.dual_layout": "a problem as named arrays",
    "solvers.interrupt": "Ctrl-C",
    "solvers.registry": "names of methods",
    "solvers.run_arguments": "checks of types",
    "solvers.run_state": "counters of a run",
    "solvers.time_left": "sentences on progress",
    "solvers.warm_up": "compilation before the clock starts",
    "ranking.registry": "names of methods",
    "ranking.solve": "arguments and results",
    "datasets.contents": "what a reader returns",
    "datasets.csv_files": "file formats",
    "datasets.csv_rows": "file formats",
    "datasets.files": "downloads and checksums",
    "datasets.label_place": "file formats",
    "datasets.readers": "file formats",
    "datasets.text_labels": "file formats",
    "distributed.sources": "file formats",
    "experiments.comparison": "runs side by side",
    "experiments.figure": "curves drawn from runs",
    "experiments.html_report": "curves drawn from runs",
    "experiments.suite_page": "a page of given tables",
    "experiments.suite_record": "a file of settings",
    "experiments.import_file": "files of visitors",
    "testing.loss_trial": "which checks a loss gets",
    "testing.method_trial": "runs of a visitor's method",
    "testing.shrinking": "smaller examples of a contradiction",
    "testing.small_problems": "problems to try methods on",
    "testing.tried_loss": "answers of a visitor's loss",
    "testing.watch": "answers of a visitor's method",
}


def modules() -> set[str]:
    """Return all modules of fwlab but packages, which only name their parts."""
    folder = ROOT / "fwlab"
    files = [file for file in folder.rglob("*.py") if file.name != "__init__.py"]
    return {".".join(file.relative_to(folder).with_suffix("").parts) for file in files}


def test_every_module_of_mathematics_has_a_defect():
    planted = {name for defect in read_defects() if not is_figure(name := defect.module)}
    without = {m for m in modules() if any(fnmatch(m, pattern) for pattern in NO_MATHEMATICS)}
    assert modules() - without - planted == set(), "plant a defect, or list what they hold instead"
    assert planted & without == set()
    assert planted - modules() == set()


def is_figure(module: str) -> bool:
    return module.startswith("figures.")


def test_every_folder_of_figures_has_a_defect():
    planted = {d.module.rpartition(".")[0] for d in read_defects() if is_figure(d.module)}
    packages = {f"figures.{file.parent.name}" for file in ROOT.glob("figures/*/__init__.py")}
    assert len(packages) > 8 and packages == planted


def test_every_pattern_names_a_module():
    assert all(any(fnmatch(m, pattern) for m in modules()) for pattern in NO_MATHEMATICS)
