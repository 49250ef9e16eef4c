"""Pages that show source files, with an address for each line."""

from collections.abc import Iterable
from pathlib import Path

from fwlab.docs.records import Records

ROOT = Path(__file__).parents[2]
FOLDER = "source"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{path}</title>
<link rel="icon" href="{top}_static/favicon.svg">
<style>{style}
body {{ margin: 0; font: 14px/1.5 ui-monospace, monospace; background: #f8f8f8; color: #333; }}
header {{ padding: .6rem 1rem; background: #fff; border-bottom: 1px solid #ccc; }}
pre {{ margin: 0; padding: 1rem; overflow-x: auto; }}
span.line:target {{ background: #fff3b0; display: inline-block; min-width: 100%; }}
</style></head>
<body><header><a href="{top}index.html">fwlab</a> / {path}</header><main>{code}</main></body></html>
"""


def address(path: str, line: int | None = None) -> str:
    """Return the address of a file's page, or of one of its lines, from the site's top."""
    return f"{FOLDER}/{path}.html" + (f"#L-{line}" if line else "")


def write_pages(target: Path, records: Records) -> None:
    """Write the pages of all files with checks, figures or parts of fwlab below `target`."""
    write_files(target, [*records.files, *python_files("figures"), *python_files("fwlab")])


def python_files(folder: str) -> list[str]:
    """Return the paths of all Python files of a folder of the repository."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))


def write_files(target: Path, paths: Iterable[str]) -> None:
    """Write a page per file."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    shape = HtmlFormatter(linenos="inline", lineanchors="L", linespans="line", style="xcode")
    style = shape.get_style_defs()
    for path in paths:
        page = target / address(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        code = highlight((ROOT / path).read_text("utf-8"), PythonLexer(), shape)
        top = "../" * (path.count("/") + 1)
        page.write_text(PAGE.format(path=path, style=style, top=top, code=code), "utf-8")
