"""An environment of its own, into which the visitor's package is installed from a wheel."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy

ROOT = Path(__file__).parents[2]
PACKAGE = Path(__file__).parent / "visitor_package"


class Environment:
    """A folder with a Python that sees fwlab and its packages, and a copy of the package."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, folder / "source"
        shutil.copytree(PACKAGE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        [self.site] = (folder / "venv").glob("[lL]ib/**/site-packages")
        seen = [str(ROOT), str(Path(numpy.__file__).parents[1])]
        (self.site / "running.pth").write_text("\n".join(seen))
        self.python = next((folder / "venv").glob("*/python"))
        self.install()

    def install(self) -> None:
        """Build a wheel of the source and install it, without an index."""
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--no-index"]
        options = ["-q", "--no-deps", "--no-compile", "--disable-pip-version-check"]
        subprocess.run([*pip, *options, self._wheel()], check=True)

    def edit(self, file: str, old: str, new: str) -> None:
        """Edit a file of the package and put the new wheel in place of the old one, as pip does."""
        path = self.source / "guest" / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
        with zipfile.ZipFile(self._wheel()) as wheel:
            wheel.extractall(self.site)

    def run(self, *arguments: str) -> str:
        """Run Python in the folder to its good end; return what it printed."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        process = subprocess.run(
            [self.python, "-W", "error", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            # a file that is edited twice within a second has the same bytecode file
            env={**environment, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    def _wheel(self) -> Path:
        """Write the wheel that the package's build backend would write."""
        project = tomllib.loads((self.source / "pyproject.toml").read_text())["project"]
        name = f"{project['name']}-{project['version']}"
        needs = "".join(f"Requires-Dist: {need}\n" for need in project["dependencies"])
        points = "".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
            for group, entries in project["entry-points"].items()
        )
        information = {
            "METADATA": "Metadata-Version: 2.1\n"
            f"Name: {project['name']}\nVersion: {project['version']}\n{needs}",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n",
            "entry_points.txt": points,
        }
        wheel = self.folder / f"{name}-py3-none-any.whl"
        files = {str(f.relative_to(self.source)): f.read_text() for f in self.source.rglob("*.py")}
        files |= {f"{name}.dist-info/{file}": text for file, text in information.items()}
        record = "".join(f"{file},,\n" for file in [*files, f"{name}.dist-info/RECORD"])
        with zipfile.ZipFile(wheel, "w") as archive:
            for file, text in {**files, f"{name}.dist-info/RECORD": record}.items():
                archive.writestr(file, text)
        return wheel
