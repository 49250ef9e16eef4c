"""Check the schema of the records and the bibliography, on which readers outside Python rely."""

import copy
import json
import re
from pathlib import Path

import pytest

from fwlab.docs import papers
from paper_checks import modules
from paper_checks.severity import Severity
from paper_checks.trials import Tier
from paper_checks.verdicts import Verdict

FOLDER = Path(modules.__file__).parent
SCHEMA = json.loads((FOLDER / "ledger.schema.json").read_text("utf-8"))
RECORDS = json.loads((FOLDER / "ledger.json").read_text("utf-8"))
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": int | float,
    "boolean": bool,
    "null": type(None),
}


def faults(value, schema, path="$"):
    """Yield what is wrong with a value, by the keywords of JSON Schema that SCHEMA uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if "type" in schema and not any(is_a(value, kind) for kind in names(schema["type"])):
        yield f"{path}: {value!r} is no {schema['type']}"
    elif isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield f"{path}: it is empty"
        if not re.search(schema.get("pattern", ""), value):
            yield f"{path}: {value!r} does not match"
    elif isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{path}: {value} is too small"
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from faults(entry, schema["items"], f"{path}[{place}]")
    elif isinstance(value, dict):
        yield from faults_of_object(value, schema, path)


def faults_of_object(value, schema, path):
    parts, others = schema.get("properties", {}), schema["additionalProperties"]
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}: {name} is missing"
    for name, entry in value.items():
        if name not in parts and others is False:
            yield f"{path}: {name} is unknown"
        else:
            yield from faults(entry, parts.get(name, others), f"{path}.{name}")


def names(given):
    return given if isinstance(given, list) else [given]


def is_a(value, kind):
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def test_the_stored_records_have_the_form_of_the_schema():
    assert list(faults(RECORDS, SCHEMA)) == []


def test_the_schema_lists_each_verdict_severity_and_tier():
    parts = SCHEMA["items"]["properties"]
    assert parts["verdict"]["enum"] == list(Verdict)
    assert parts["tier"]["enum"] == ["", *Tier]
    assert parts["severity"]["enum"] == ["", *Severity]
    for part in (parts["verdict"], parts["severity"], parts["tier"]):
        assert len(part["enum"]) == len(part["enumDescriptions"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verdict", "true"),
        ("tier", "sure"),
        ("severity", "grave"),
        ("text", {"file": "a.txt", "sha256": "0"}),
        ("failed_in_main_case", -1),
        ("id", "no dash"),
        ("cases", "12"),
        ("cases", -1),
        ("deep", 0),
        ("seed", True),
        ("statement", ""),
        ("margin", []),
        ("kinds", {"exact": "3"}),
        ("planted", [{"text": "twice it"}]),
        ("witness_parts", [{"name": "x", "side": "left", "value": "1"}]),
        ("corrected_trial", {"cases": 1, "failed": 0, "margin": "0", "seed": 1}),
        ("unknown", 1),
    ],
)
def test_a_record_of_another_form_is_refused(name, value):
    record = {**copy.deepcopy(RECORDS[0]), name: value}
    assert len(list(faults([record], SCHEMA))) == 1


def test_a_record_without_a_field_is_refused():
    for name in RECORDS[0]:
        record = {key: value for key, value in RECORDS[0].items() if key != name}
        assert list(faults([record], SCHEMA)) == [f"$[0]: {name} is missing"]


def test_the_bibliography_has_each_paper_with_its_address():
    text = (FOLDER / "ledger.bib").read_text("utf-8")
    entries = dict(re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, re.DOTALL))
    assert list(entries) == list(modules.PAPERS)
    for name, entry in entries.items():
        fields = dict(re.findall(r"(\w+)\s*= \{(.*?)\}(?:,\n|$)", entry, re.DOTALL))
        paper = papers.PAPERS[name]
        assert fields["url"] == paper.address
        assert f"({fields['year']})" in paper.authors
        assert entry.count("{") == entry.count("}")
        title = re.sub(r"[${}]|\s+", lambda found: " " * found[0].isspace(), fields["title"])
        assert title.lower() == paper.title.lower()
