"""The record of a suite: the file suite.toml in the folder of its comparison."""

from dataclasses import asdict, dataclass
from pathlib import Path

from fwlab.experiments.record import FILE as COMPARISON
from fwlab.toml_text import read_toml, write_toml

FILE = "suite.toml"
COMMENT = "`fwlab suite --out FOLDER` goes on with this suite."


@dataclass(frozen=True)
class SuiteRecord:
    """The problems of a suite, and the last method that it was run for.

    Attributes
    ----------
    version : int
        SUITE_VERSION.
    size, method : str
        The size, and the name of the method.
    missing : tuple of str
        The sets that were not here.
    n_listed : int
        The number of problems that were asked for.
    """

    version: int
    size: str
    method: str
    missing: tuple[str, ...]
    n_listed: int

    @classmethod
    def read(cls, folder: Path) -> "SuiteRecord | None":
        """Return the record of a folder, None if there is none. Raises ValueError if damaged."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            table = read_toml(path)
            return cls(
                int(table["version"]),
                str(table["size"]),
                str(table["method"]),
                tuple(map(str, table["missing"])),
                int(table["n_listed"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} cannot be read: it is damaged ({error}).") from error

    def begin(self, folder: Path) -> None:
        """Write the record to a new folder.

        Raises ValueError if the folder has another suite, or a comparison that is no suite.
        """
        earlier = SuiteRecord.read(folder)
        if earlier is None and (folder / COMPARISON).is_file():
            raise ValueError(
                f"out must be a new folder or that of a suite; {str(folder)!r} holds a comparison."
            )
        if earlier is not None and (self.version, self.size) != (earlier.version, earlier.size):
            raise ValueError(
                f"out must be a new folder or that of the same suite; {str(folder)!r} holds size "
                f"{earlier.size!r} of version {earlier.version}, and this is size {self.size!r} of "
                f"version {self.version}."
            )
        if earlier is None:
            self.write(folder)

    def write(self, folder: Path) -> None:
        """Write the record."""
        write_toml(folder / FILE, COMMENT, asdict(self))
