"""The page on how to cite fwlab has its version, its commit and its licence."""

from fwlab.docs import cite
from fwlab.provenance import provenance


def test_the_entry_has_author_version_and_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(cite, "commit", lambda: "0123456789ab")
    cite.write_page(tmp_path)
    page = (tmp_path / "cite.md").read_text("utf-8")
    assert "  author = {{The fwlab developers}},\n" in page
    assert f"  version = {{{provenance()['fwlab']}}},\n" in page
    assert "  note = {commit 0123456789ab}\n}\n" in page
    assert cite.LICENCE.read_text("utf-8").strip() in page


def test_outside_a_checkout_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(cite, "commit", lambda: "")
    cite.write_page(tmp_path)
    page = (tmp_path / "cite.md").read_text("utf-8")
    assert "commit `" not in page and "note" not in page
