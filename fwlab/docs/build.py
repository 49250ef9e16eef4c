"""Write the sources of the site, copied and generated, and run Sphinx on them."""

import shutil
import tempfile
from pathlib import Path

from fwlab.docs import (
    api,
    cards,
    choose,
    cite,
    claims,
    figure_pages,
    index,
    measured,
    printed_tables,
    search_terms,
    sources,
    tested,
)
from fwlab.docs.records import Records, read_records

HERE = Path(__file__).parent
# any warning fails the build, after all pages have been tried
OPTIONS = ("-W", "--keep-going", "-q", "-j", "auto")


def build(out: Path, ledger: Path | None = None, examples: bool = True) -> int:
    """Write the site to `out` and return 0, or 1 if Sphinx finds anything to warn of.

    Parameters
    ----------
    out : Path
        Folder of the site; what an earlier build left there and did not change is kept.
    ledger : Path, optional
        File of the ledger's records. The records in the repository by default.
    examples : bool
        Whether to run the examples of the gallery.

    Raises OSError or ValueError if the records cannot be read or `out` cannot be written.
    """
    from sphinx.cmd.build import build_main

    records = read_records(ledger)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "site"
        write_sources(source, records)
        options = [] if examples else ["-D", "plot_gallery=0"]
        return int(build_main([*options, *OPTIONS, str(source), str(out)]) != 0)


def write_sources(source: Path, records: Records) -> None:
    """Write everything that Sphinx reads into the folder `source`."""
    shutil.copytree(HERE / "pages", source)
    for name in ("conf.py", "docstrings.py", "mathml_renderer.py", "gallery_cards.py"):
        shutil.copy(HERE / name, source)
    shutil.copytree(HERE / "examples", source / "examples")
    shutil.copytree(HERE / "static", source / "static")
    shutil.copytree(HERE / "theme", source / "theme")
    index.write_pages(source, records)
    choose.write_page(source)
    measured.write_pages(source)
    printed_tables.write_page(source)
    claims.write_pages(source, records)
    api.write_pages(source, records)
    figure_pages.write_pages(source, records)
    tested.write_page(source, records)
    cite.write_page(source)
    cards.write(source, records)
    search_terms.add(source, records)
    sources.write_pages(source / "extra", records)
