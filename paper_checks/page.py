"""The ledger as one static HTML page, without scripts or other files."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from paper_checks.formulas import as_svg
from paper_checks.kept import Record
from paper_checks.ledger import CLAIMS
from paper_checks.report import by_paper, counts, facts, run_command, setting
from paper_checks.verdicts import Verdict

MEANING = {
    Verdict.HOLDS: "true over its whole stated range, as far as it was tried",
    Verdict.WIDER: "true, and still true without a restriction that it names",
    Verdict.CONDITIONAL: "false as stated, true under the condition given",
    Verdict.MISPRINT: "contradicts the paper's own derivation or use, whose form is true",
    Verdict.FAILS: "false: the witness refutes it",
    Verdict.REPRODUCED: "the experiment comes out as the paper says",
    Verdict.NOT_REPRODUCED: "the experiment comes out otherwise",
    Verdict.INCONCLUSIVE: "the experiment allows either answer",
    Verdict.OTHER_DATA: "tried on other data than the paper used",
    Verdict.UNTESTABLE: "not tried here, for the reason given",
}

STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.number, th.number { text-align: right; width: 6rem; font-variant-numeric: tabular-nums; }
td.id { white-space: nowrap; } td.statement { opacity: .85; }
section { border-top: 1px solid var(--line); padding: .75rem 0 1rem; }
section:target { background: var(--soft); }
h2 { margin-top: 3rem; }
h3 { margin: 0 0 .5rem; } h3 small { font-weight: normal; opacity: .75; }
a { color: light-dark(#0b57d0, #8ab4f8); } h3 a { color: inherit; text-decoration: none; }
.formula { overflow-x: auto; margin: .75rem 0; padding: .25rem 0; }
.formula svg { display: block; max-width: none; }
dl { display: grid; grid-template-columns: 8.5rem 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { opacity: .75; } .index dt { opacity: 1; } .index a { white-space: nowrap; }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: .9em ui-monospace, monospace; background: var(--soft); padding: .1rem .3rem;
  overflow-wrap: anywhere; }
.verdict { border-radius: .25rem; padding: 0 .4rem; color: #fff; white-space: nowrap; }
.holds { background: #1b6e3c; } .wider { background: #1d5f91; }
.conditional { background: #7a5a00; } .misprint { background: #8a3f00; }
.fails { background: #a3182d; } .untestable { background: #555; }
@media (max-width: 45rem) {
  .wide { display: none; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .4rem; }
  td, th { padding: .25rem; } td.number, th.number { width: auto; }
  td.id { white-space: normal; overflow-wrap: anywhere; }
}
@media print { section { break-inside: avoid; } }
"""


def html_page(records: Sequence[Record]) -> str:
    """Counts by verdict, an index, then each paper's table and claims."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Ledger of claims</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body>",
        f"<h1>Ledger of claims</h1><p>{escape(counts(records))}.</p>",
        f"<p>{escape(setting(records))}</p>",
        *overview(records),
    ]
    for title, chosen in by_paper(records):
        parts += [f"<h2>{escape(title)}</h2>", f"<p>{escape(counts(chosen))}.</p>", "<table>"]
        parts += ["<tr><th>claim</th><th>place</th><th>verdict</th>"]
        parts += ['<th class="wide">statement</th></tr>']
        parts += [row(record) for record in chosen]
        parts += ["</table>", *(section(record) for record in chosen)]
    return "\n".join([*parts, "</body></html>", ""])


def overview(records: Sequence[Record]) -> list[str]:
    """The number of claims by verdict and paper; then the claims with each verdict."""
    papers = list(dict.fromkeys(record["paper"] for record in records))
    found = Counter((record["verdict"], record["paper"]) for record in records)
    heads = "".join(f'<th class="number">{paper}</th>' for paper in papers)
    parts = [f"<table><tr><th>verdict</th>{heads}</tr>"]
    for verdict in MEANING:
        cells = "".join(f'<td class="number">{found[verdict, paper]}</td>' for paper in papers)
        parts += [f"<tr><td>{badge(verdict)}</td>{cells}</tr>"]
    parts += ["</table>", "<h2>Claims by verdict</h2>", '<dl class="index">']
    for verdict, meaning in MEANING.items():
        chosen = [link(record["id"]) for record in records if record["verdict"] == verdict]
        if chosen:
            parts += [f"<dt>{badge(verdict)}</dt><dd>{meaning}: {', '.join(chosen)}</dd>"]
    return [*parts, "</dl>"]


def badge(verdict: str) -> str:
    return f'<span class="verdict {verdict}">{verdict}</span>'


def link(id: str) -> str:
    return f'<a href="#{id}">{id}</a>'


def row(record: Record) -> str:
    cells = [
        f'<td class="id">{link(record["id"])}</td>',
        f"<td>{escape(record['where'])}</td>",
        f"<td>{badge(record['verdict'])}</td>",
        f'<td class="wide statement">{escape(record["statement"])}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def section(record: Record) -> str:
    """One claim."""
    claim = CLAIMS[record["id"]]
    parts = [
        f'<section id="{claim.id}"><h3>{badge(record["verdict"])} {link(claim.id)} '
        f"<small>{escape(claim.where)}</small></h3>",
        f"<p>{escape(claim.statement)}</p>",
    ]
    if claim.formula:
        parts += [f'<div class="formula">{as_svg(claim.formula)}</div>']
    parts += ["<dl>"]
    parts += [f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts(record)]
    parts += [f"<dt>run again</dt><dd><code>{escape(run_command(record))}</code></dd>"]
    return "\n".join([*parts, "</dl></section>"])
