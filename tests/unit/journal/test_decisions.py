"""Decision records: numbered, in the form that is there, linked on both sides."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from second_brain.errors import NotFound, UsageError
from second_brain.journal.decisions import Draft, folder_of, problems, read_all, record

TODAY = date(2031, 5, 2)
NYGARD = (
    "# 7. Use Whoosh\n\nDate: 2031-01-01\n\n## Status\n\nAccepted\n\n## Context\n\nWords.\n\n"
    "## Decision\n\nWe use Whoosh.\n"
)
MADR = (
    "---\nstatus: accepted\ndate: 2031-01-01\ntags: [x] # mine\n---\n# Use Whoosh\n\n"
    "## Context and Problem Statement\n\nWords.\n"
)
LINED = "# Use Whoosh\n\n* Status: accepted, 2031\n\nWords.\n"
MADR_SUPERSEDED = MADR.replace("status: accepted", "status: superseded by ADR-0008")


def test_the_first_record_of_a_project_is_madr_in_docs_adr(tmp_path):
    """With all that was said, and empty sections for what was not."""
    made = record(
        tmp_path,
        Draft("Use FTS5: words", "We need words.", ["FTS5", "Whoosh"], 'Chosen option: "FTS5", because it is there.'),
        today=TODAY,
    )
    assert made.path == tmp_path / "docs/adr/0001-use-fts5-words.md"
    assert made.path.read_text() == (
        "---\nstatus: accepted\ndate: 2031-05-02\n---\n\n# Use FTS5: words\n\n"
        "## Context and Problem Statement\n\nWe need words.\n\n## Considered Options\n\n* FTS5\n* Whoosh\n\n"
        '## Decision Outcome\n\nChosen option: "FTS5", because it is there.\n\n### Consequences\n'
    )
    assert list(problems(read_all(tmp_path / "docs/adr"))) == []


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (NYGARD, NYGARD.replace("Accepted", "Superseded by [8. Use FTS5](0008-use-fts5.md)")),
        (MADR, MADR_SUPERSEDED),
        ("# Use Whoosh\n\nWords.\n", "---\nstatus: superseded by ADR-0008\n---\n# Use Whoosh\n\nWords.\n"),
        (LINED, LINED.replace("accepted, 2031", "superseded by ADR-0008")),
        (MADR.replace("\n", "\r\n"), MADR_SUPERSEDED.replace("\n", "\r\n")),
    ],
    ids=["nygard", "madr", "bare", "line", "crlf"],
)  # fmt: skip
def test_superseding_changes_the_old_records_status_and_nothing_else(tmp_path, text, changed):
    """The new one has the form of what is there and names the old one."""
    folder = tmp_path / "doc" / "adr"
    folder.mkdir(parents=True)
    old = folder / "0007-use-whoosh.md"
    old.write_bytes(text.encode())
    new = record(tmp_path, Draft("Use FTS5", supersedes=[7]), today=TODAY)
    assert new.path == folder / "0008-use-fts5.md"
    assert old.read_bytes().decode() == changed
    first, second = read_all(folder)
    assert (first.status, first.superseded_by, second.supersedes) == ("superseded", (8,), (7,))
    assert second.form == first.form or text.startswith("# Use")
    assert list(problems(read_all(folder))) == []


def test_a_record_that_supersedes_nothing_known_is_not_written(tmp_path):
    """The error lists what there is."""
    record(tmp_path, Draft("One"), today=TODAY)
    with pytest.raises(NotFound, match="no record 9; there are: 1"):
        record(tmp_path, Draft("Two", supersedes=[1, 9]), today=TODAY)
    assert [path.name for path in (tmp_path / "docs/adr").glob("*.md")] == ["0001-one.md"]
    assert read_all(tmp_path / "docs/adr")[0].status == "accepted"


@pytest.mark.parametrize("title", ["", "  \n", "#"])
def test_a_record_needs_a_title(tmp_path, title):
    """One line of words."""
    with pytest.raises(UsageError):
        record(tmp_path, Draft(title), today=TODAY)


def test_numbers_go_on_from_the_highest_and_keep_their_width(tmp_path):
    """Gaps are not filled; five digits stay five; a folder named by .adr-dir goes first, but not outside."""
    folder = tmp_path / "records"
    folder.mkdir()
    (tmp_path / ".adr-dir").write_text("records\n")
    (folder / "00041-x.md").write_text(MADR)
    assert record(tmp_path, Draft("Y"), today=TODAY).path.name == "00042-y.md"
    (tmp_path / ".adr-dir").write_text("../outside\n")
    assert folder_of(tmp_path) == tmp_path / "docs/adr"


def test_titles_of_any_script_make_a_name_that_fits(tmp_path):
    """A slash makes no folder, 200 kana are cut between characters; more is no title."""
    names = [
        record(tmp_path, Draft(title), today=TODAY).path.name for title in ("On/Off", "断水手順", "あ" * 200, "🚰")
    ]
    assert names[:2] == ["0001-on-off.md", "0002-断水手順.md"]
    assert names[3] == "0004-untitled.md"
    assert all(len(name.encode()) < 200 for name in names)
    with pytest.raises(UsageError, match="at most 200 are a title"):
        record(tmp_path, Draft("あ" * 201), today=TODAY)


def test_what_is_wrong_is_named(tmp_path):
    """Numbers twice, unknown states, links that lead nowhere or are not returned, circles."""
    folder = tmp_path / "docs/adr"
    folder.mkdir(parents=True)
    for name, status in {
        "0001-a.md": "accepted",
        "0001-b.md": "accepted",
        "0002-c.md": "perhaps",
        "0003-d.md": "superseded by ADR-0009",
        "0004-e.md": "superseded",
        "0005-f.md": "superseded by ADR-0006",
        "0006-g.md": "superseded by ADR-0005",
    }.items():
        (folder / name).write_text(f"---\nstatus: {status}\n---\n# T\n")
    (folder / "0007-h.md").write_text(
        "---\nstatus: accepted\ndate: May\n---\n# T\n\n* Supersedes [ADR-0001](0001-a.md)\n"
    )
    found = "\n".join(problems(read_all(folder)))
    for part in (
        "0001-b.md has the number of 0001-a.md", "0002-c.md has status 'perhaps'", "0003-d.md names record 9",
        "0004-e.md is superseded and does not say", "0005-f.md is superseded by itself",
        "0007-h.md has the date 'May'", "0007-h.md supersedes 0001-a.md, which does not say so",
    ):  # fmt: skip
        assert part in found
    assert len(found.splitlines()) == 8


def test_wr_many_processes_each_get_a_number_of_their_own(tmp_path):
    """Eight at once, no number twice, no record lost."""
    code = (
        "import sys; from datetime import date; from pathlib import Path\n"
        "from second_brain.journal.decisions import Draft, record\n"
        "for n in range(3): record(Path(sys.argv[1]), Draft(f'T{sys.argv[2]} {n}'), today=date(2031, 5, 2))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(8)]
    assert [process.wait() for process in running] == [0] * 8
    known = read_all(tmp_path / "docs/adr")
    assert [decision.number for decision in known] == list(range(1, 25))
    assert len({decision.title for decision in known}) == 24
    assert [path.name for path in Path(tmp_path / "docs/adr").iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("link", ["docs", "docs/adr"])
def test_a_link_out_of_the_project_is_not_written_through(tmp_path, link):
    """A project may be somebody else's: nothing of ours lands where its links lead."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of the project"):
        record(project, Draft("X"), today=TODAY)
    assert list(outside.iterdir()) == []
