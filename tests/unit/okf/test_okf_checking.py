"""What breaks one of the three rules of Open Knowledge Format is an error, all else is advice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from second_brain.errors import NotFound
from second_brain.okf.checking import Finding, check_bundle

NOW = datetime(2031, 4, 5, tzinfo=UTC)


def found(root: Path, files: dict[str, str | bytes]) -> list[Finding]:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check_bundle(root, NOW)


def shown(findings: list[Finding]) -> list[str]:
    return [f"{finding.path}:{finding.line} {finding.rule}: {finding.message}" for finding in findings]


GOOD = {
    "index.md": '---\nokf_version: "0.2"\n---\n# Notes\n\n* [Pump](pump.md) - How it works.\n* [Parts](parts/) - all\n',
    "log.md": "# Update Log\n\n## 2031-04-05\n* **Update**: [Pump](/pump.md)\n\n## 2031-04-01\n* **Creation**: x\n",
    "parts/index.md": "# Parts\n\n* [Valve](valve.md)\n* [Maker](https://example.com)\n",
    "parts/valve.md": "---\r\ntype: Part\r\n---\r\nSee [the pump](../pump.md) and [itself](/parts/valve.md#a).\r\n",
    "pump.md": "---\ntype: Playbook\nstatus: stable\ngenerated: {by: human:me, at: 2031-04-01T10:00:00Z}\n"
    "verified: [{by: process:x, at: '2031-04-01T10:00:00+09:00'}]\nsources: [{id: a, resource: /parts/valve.md}]\n"
    "stale_after: 2032-01-01T00:00:00Z\nunknown: key\n---\nSaid there.[^a]\n\n[^a]: Valve\n",
    "picture.png": b"\x89PNG",
    ".git/x.md": "hidden",
}


def test_a_bundle_that_keeps_all_rules_has_nothing_to_be_said_of(tmp_path: Path):
    """With reserved files, unknown keys, other files and hidden folders."""
    assert shown(found(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Pump\n", "a.md:1 frontmatter: it has no frontmatter"),
        ("---\ntype: Note\n", "a.md:1 frontmatter: it has no frontmatter"),
        ("text\n---\ntype: Note\n---\n", "a.md:1 frontmatter: it has no frontmatter"),
        ("---\ntitle: a: b\ntype: Note\n---\n", "a.md:2 frontmatter: its frontmatter cannot be read"),
        ("---\n- type\n---\n", "a.md:2 frontmatter: its frontmatter is no mapping"),
        (b"---\ntype: \xff\n---\n", "a.md:1 frontmatter: it is not UTF-8: byte 10 is 0xff"),
        ("---\n---\n", "a.md:1 type: it has no `type`"),
        ("---\ntitle: x\ntype:\n---\n", "a.md:3 type: it has a `type` that is no text, or empty"),
        ("---\ntype: [Note]\n---\n", "a.md:2 type: it has a `type` that is no text"),
        ("---\nType: Note\n---\n", "a.md:1 type: it has no `type`"),
    ],
)
def test_a_concept_without_readable_frontmatter_or_type_is_an_error(tmp_path: Path, text: str | bytes, expected: str):
    """With the line and what was expected."""
    (finding,) = found(tmp_path, {"a.md": text})
    assert shown([finding])[0].startswith(expected)
    assert finding.is_error


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("index.md", "---\ntitle: x\n---\n# A\n\n* [a](b.png)\n", "1 reserved: its frontmatter holds title"),
        ("sub/index.md", '---\nokf_version: "0.2"\n---\n# A\n', "1 reserved: it has frontmatter"),
        ("index.md", "---\na: [\n---\n# A\n", "3 reserved: its frontmatter cannot be read"),
        ("index.md", "* [a](b.png)\n", "1 reserved: an entry stands above the first heading"),
        ("index.md", "just text\n", "1 reserved: it has no heading"),
        ("index.md", "# A\n\n* no link\n", "3 reserved: an entry is no link"),
        ("log.md", "---\ntype: Log\n---\n## 2031-04-05\n", "1 reserved: it has frontmatter"),
        ("log.md", "# Log\n\n## April\n* x\n", "3 reserved: the heading 'April' is no day"),
        ("log.md", "# Log\n\n## 2031-02-30\n", "3 reserved: the heading '2031-02-30' is no day"),
        ("log.md", "## 2031-04-01\n* x\n\n## 2031-04-05\n* y\n", "4 reserved: 2031-04-05 stands below 2031-04-01"),
        ("log.md", "# Log\n\n* x\n", "3 reserved: an entry stands below no day"),
    ],
)
def test_a_reserved_file_in_another_form_is_an_error(tmp_path: Path, path: str, text: str, expected: str):
    """Frontmatter where none may be, entries that lead nowhere, days in disorder."""
    findings = [finding for finding in found(tmp_path, {path: text, "b.png": b""}) if finding.is_error]
    assert shown(findings)[0].startswith(f"{path}:{expected}")


@pytest.mark.parametrize(
    ("keys", "body", "expected"),
    [
        ("status: accepted", "", ":3 advice: the status 'accepted' is not one of: draft, stable, deprecated"),
        ("verified: {by: human:me, at: 2031-04-01T10:00:00Z}", "", ":3 advice: verified is one mapping"),
        ("verified: [{at: 2031-04-01T10:00:00Z}]", "", ":3 advice: verified does not say by whom"),
        ("generated: {by: human:me, at: 2031-04-01}", "", ":3 advice: generated.at is '2031-04-01'"),
        ("generated: {by: human:me, at: 2031-04-01T10:00:00}", "", ":3 advice: generated.at is '2031-04-01T10:00:00'"),
        ("stale_after: 2031-04-05T00:00:00Z", "", ":3 advice: it is stale since 2031-04-05T00:00:00Z"),
        ("stale_after: 2032-04-05", "", ":3 advice: stale_after is '2032-04-05'; expected a time with its offset"),
        ("stale_after: soon", "", ":3 advice: stale_after is 'soon'"),
        ("timestamp: 2031-04-05T00:00:00Z", "", ":3 advice: timestamp is of version 0.1"),
        ("sources: [{title: x}]", "", ":3 advice: a source names no resource"),
        ("sources: x", "", ":3 advice: sources is no list of mappings"),
        ("sources: [{id: a, resource: x}]", "text[^b]\n\n[^b]: x", ":3 advice: the footnote [^b] is no source's id"),
        ("tags: [a]\ntags: [b]", "", ":1 advice: line 4: the key 'tags' is written twice"),
        ("x: y", "# Citations\n- x", ":1 advice: a list of Citations is of version 0.1"),
        ("x: y", "see [[Pump]]", ":5 advice: [[Pump]] is a wikilink, which the format does not know"),
        ("x: y", "see [it](gone.md)", ":5 advice: nothing is at 'gone.md'"),
        ("x: y", "see [it](/sub/gone.md)", ":5 advice: nothing is at '/sub/gone.md'"),
    ],
)
def test_all_else_is_advice(tmp_path: Path, keys: str, body: str, expected: str):
    """The bundle is conformant all the same."""
    (finding,) = found(tmp_path, {"a.md": f"---\ntype: Note\n{keys}\n---\n{body}\n"})
    assert shown([finding])[0].startswith(f"a.md{expected}")
    assert not finding.is_error


def test_an_attested_computation_says_how_it_is_run(tmp_path: Path):
    """The one key that its type needs."""
    (finding,) = found(tmp_path, {"a.md": "---\ntype: Attested Computation\n---\n"})
    assert finding.message == "an Attested Computation names no runtime"


def test_a_name_that_is_nearly_reserved_is_pointed_out(tmp_path: Path):
    """Reserved names are lower case; another spelling is a concept."""
    (finding,) = found(tmp_path, {"Index.md": "---\ntype: Note\n---\n"})
    assert "differs from a reserved one by letter case only" in finding.message


def test_a_folder_that_is_not_there_cannot_be_checked(tmp_path: Path):
    """Nor can a file."""
    with pytest.raises(NotFound, match="is no folder"):
        check_bundle(tmp_path / "gone", NOW)
