"""Where an agent may let things be indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.config import SourceSettings
from second_brain.errors import UsageError
from second_brain.servers.places import allowed_folder, forbidden, graph_file, project_folder

REFUSED = "lies outside of the folders that may be indexed"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a project, keys, and something beside it."""
    home = tmp_path / "home"
    for name in ("work/notes", ".ssh", "work/.aws", "other"):
        (home / name).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def allowed(named: object, *roots: Path, sources: tuple[SourceSettings, ...] = (), base: Path | None = None) -> Path:
    return allowed_folder(str(named), base=base, roots=roots, sources=sources)


def test_what_lies_below_a_root_is_allowed(user):
    """Absolute, from the home, and from the project."""
    work = user / "work"
    assert allowed(work / "notes", work) == (work / "notes").resolve()
    assert allowed("~/work/notes", work) == (work / "notes").resolve()
    assert allowed("notes", work, base=work) == (work / "notes").resolve()
    assert allowed(".", work, base=work) == work.resolve()


@pytest.mark.parametrize(
    "named",
    ["/", "~", "~/.ssh", "~/other", "~/work/.aws", "~/work/../other", "/etc", "/proc/self", "~/../elsewhere", "~/gone"],
)
def test_other_places_are_refused_in_the_same_words_whether_they_exist_or_not(user, named):
    """And without a word of what is there."""
    with pytest.raises(UsageError, match=REFUSED) as caught:
        allowed(named, user / "work")
    assert str(caught.value) == f"'{named}' {REFUSED}: {user / 'work'}"


def test_a_link_out_of_a_root_leads_out(user, tmp_path):
    """It is resolved before it is compared."""
    (user / "work" / "way").symlink_to(tmp_path / "elsewhere")
    (user / "work" / "keys").symlink_to(user / ".ssh")
    (user / "work" / "loop").symlink_to(user / "work" / "loop")
    for name in ("way", "keys", "loop"):
        with pytest.raises(UsageError, match=REFUSED):
            allowed(user / "work" / name, user / "work")


def test_a_home_as_a_root_allows_what_is_in_it_but_not_itself(user):
    """Nor keys, nor what is above."""
    assert allowed("~/other", user) == (user / "other").resolve()
    for named in ("~", "~/.ssh", "~/..", "/"):
        with pytest.raises(UsageError, match=REFUSED):
            allowed(named, user, Path("/"), user.parent)


def test_a_place_in_a_source_is_spelled_as_the_source_is(user, tmp_path):
    """Whoever indexes it compares spellings."""
    (tmp_path / "alias").symlink_to(user / "work")
    source = SourceSettings("work", "markdown", tmp_path / "alias")
    assert allowed(user / "work" / "notes", sources=(source,)) == tmp_path / "alias" / "notes"


def test_what_does_not_exist_below_a_root_is_told_so(user):
    """There the user may know."""
    with pytest.raises(UsageError, match="does not exist"):
        allowed("~/work/gone", user / "work")
    for named in ("", "  ", "a\0b"):
        with pytest.raises(UsageError, match="no path"):
            allowed(named, user / "work")


def test_a_project_is_what_the_client_says_or_looks_like_one(user, monkeypatch):
    """Never a home, nor a placeholder that nobody filled in."""
    work = user / "work"
    assert project_folder({"CLAUDE_PROJECT_DIR": str(work)}) == work
    assert project_folder({"CLAUDE_PROJECT_DIR": str(user)}) is None
    monkeypatch.chdir(work)
    assert project_folder({"CLAUDE_PROJECT_DIR": "${CLAUDE_PROJECT_DIR}"}) is None
    (work / ".git").mkdir()
    assert project_folder({}) == work
    (user / ".git").mkdir()
    monkeypatch.chdir(user)
    assert project_folder({}) is None
    assert forbidden(user.resolve())


def test_the_graph_is_the_projects_or_what_the_variable_names(user):
    """None for a client that has neither: not that of whatever folder the server runs in."""
    work = user / "work"
    (work / ".git").mkdir()
    assert graph_file(work / "notes", {}) == work / "memory.jsonl"
    assert graph_file(None, {}) is None
    assert graph_file(None, {"MEMORY_FILE_PATH": "/data/m.jsonl"}) == Path("/data/m.jsonl")
