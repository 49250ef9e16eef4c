"""Try a stored list of random mutants, here and in an older checkout.

    python tests/planted/random_mutants.py --out now.tsv
    python tests/planted/random_mutants.py --out now.tsv --wide
    python tests/planted/random_mutants.py --out before.tsv --root ../older
    python tests/planted/random_mutants.py --draw 300 --seed 50 --root ../older

random_mutants.tsv holds the mutants: module, line when drawn, text of that line, the expression and
what stands in its place. --draw draws them anew from those whose line and expression both checkouts
hold. A mutant is tried with the tests that catch the planted defects of its module; with --wide,
with the files named after it and the shortest files that import it, or else its package. Each
outcome is a line of --out: killed, survived, gone from the module, or untried where there are no
tests or they are too slow. A second call tries those that are not there yet, and with --wide those
that no test saw; the last outcome of a mutant counts.
"""

import argparse
import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mutate import mutant_of, places, texts
from planted_defects import ROOT, read_defects
from planted_runs import Planting, server

LIST = Path(__file__).with_name("random_mutants.tsv")
# seconds of the processor: for the tests of a module as it is; for a mutant, at least, and in units
# of what these tests take
BASELINE, LEAST, FACTOR = 30, 10, 3
IMPORTING = 4
KILLED, SURVIVED, GONE, UNTRIED = "killed", "survived", "gone", "untried"


class Listed(NamedTuple):
    """A mutant as text, which later edits elsewhere in the module leave alone."""

    module: str
    line: int
    text: str
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.text, self.before, self.after


def source_of(module: str, root: Path) -> str:
    file = root / "fwlab" / f"{module.replace('.', '/')}.py"
    return file.read_text() if file.is_file() else ""


def listed(module: str, root: Path) -> Iterator[Listed]:
    """Yield all mutants of a module of a checkout."""
    source = source_of(module, root)
    lines = source.splitlines()
    for slot in places(ast.parse(source)):
        line = slot.node.lineno
        yield Listed(module, line, lines[line - 1].strip(), *texts(source, slot))


def draw(count: int, seed: int, older: Path) -> list[Listed]:
    """Return random mutants, in random order, of those that both checkouts hold."""
    modules = (file.relative_to(ROOT / "fwlab") for file in sorted(ROOT.glob("fwlab/**/*.py")))
    found = {}
    for file in modules:
        module = ".".join(file.with_suffix("").parts)
        held = {mutant.key for mutant in listed(module, older)}
        both = (mutant for mutant in listed(module, ROOT) if mutant.key in held)
        found |= {(module, mutant.key): mutant for mutant in both}
    return random.Random(seed).sample(list(found.values()), count)


def read() -> list[Listed]:
    rows = (line.split("\t") for line in LIST.read_text().splitlines())
    return [Listed(module, int(line), *rest) for module, line, *rest in rows]


def mutated(mutant: Listed, root: Path) -> str | None:
    """Return the module's source with the change, None if the module no longer holds it."""
    source = source_of(mutant.module, root)
    tree, lines = ast.parse(source), source.splitlines()
    for slot in places(tree):
        text = lines[slot.node.lineno - 1].strip()
        if text == mutant.text and texts(source, slot) == (mutant.before, mutant.after):
            return mutant_of(source, tree, slot).source
    return None


def tests_of(module: str, root: Path, wide: bool) -> list[str]:
    """Return the tests that belong to a module, as arguments of pytest."""
    own = [defect.test for defect in read_defects(root) if defect.module == module]
    if not wide:
        return list(dict.fromkeys(own))
    package, _, stem = f"fwlab.{module}".rpartition(".")
    imported = re.compile(
        rf"\bfwlab\.{re.escape(module)}\b|from {re.escape(package)} import .*\b{stem}\b"
    )
    files = sorted(root.glob("tests/**/test_*.py"), key=lambda file: file.stat().st_size)
    named = [file for file in files if file.stem == f"test_{stem}"]
    importing = [file for file in files if imported.search(file.read_text())][:IMPORTING]
    found = list(dict.fromkeys(str(file.relative_to(root)) for file in (*named, *importing)))
    outer = module.rpartition(".")[0]
    return found or (tests_of(outer, root, wide) if outer else [])


@dataclass
class Trials:
    """Tries mutants in a checkout; keeps the seconds that a mutant of each module may take."""

    running: Planting
    root: Path
    wide: bool
    limits: dict[str, int] = field(default_factory=dict)

    def outcome(self, mutant: Listed) -> str:
        """Return whether the tests of its module see a mutant."""
        module, source = mutant.module, source_of(mutant.module, self.root)
        if (changed := mutated(mutant, self.root)) is None:
            return GONE
        tests = tests_of(module, self.root, self.wide)
        if module not in self.limits:
            self.limits[module] = self.limit(module, source, tests)
        if not (seconds := self.limits[module]):
            return UNTRIED
        code = self.running.run(module, source, changed, tests, seconds).code
        return SURVIVED if code == 0 else KILLED

    def limit(self, module: str, source: str, tests: list[str]) -> int:
        """Return the seconds for a mutant of the module, 0 if its tests do not pass in time."""
        if not tests:
            return 0
        run = self.running.run(module, source, source, tests, BASELINE)
        return int(max(LEAST, FACTOR * run.seconds)) if run.code == 0 else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="a file for the outcomes")
    parser.add_argument("--wide", action="store_true", help="try survivors with more tests")
    parser.add_argument("--first", type=int, help="try so many of the list, by default all")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--draw", type=int, help="draw so many mutants anew and store them")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.draw:
        rows = draw(given.draw, given.seed, given.root.resolve())
        LIST.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
        return
    rows = given.out.read_text().splitlines() if given.out.exists() else []
    last = {row.partition("\t")[2]: row.partition("\t")[0] for row in rows}
    again = (SURVIVED, UNTRIED) if given.wide else (None,)
    root = given.root.resolve()
    with server(root=root) as running, given.out.open("a") as out:
        trials = Trials(running, root, given.wide)
        for mutant in read()[: given.first]:
            row = "\t".join(map(str, mutant))
            if last.get(row) in again:
                print(trials.outcome(mutant), row, sep="\t", file=out, flush=True)


if __name__ == "__main__":
    main()
