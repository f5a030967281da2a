"""Lessons: testable directives with stable ids, superseded or retired, never deleted."""

from __future__ import annotations

import subprocess
import sys
from datetime import date

import pytest

from second_brain.errors import ConfigError, NotFound, UsageError
from second_brain.journal import files
from second_brain.journal.lessons import FILE, check, learn, number_of, problems, read_all, retire, supersede

TODAY = date(2031, 5, 2)


def test_a_lesson_is_written_as_a_person_would_read_it(tmp_path):
    """With cause, detection, evidence and date; the file begins by saying what it is."""
    learn(
        tmp_path,
        "When passing text to MATCH, quote each term.",
        today=TODAY,
        cause="`-` is an operator.",
        detect='grep -rn "MATCH ?" src',
        evidence="commit 1a2b3c",
    )
    assert (tmp_path / FILE).read_text() == (
        "# Lessons\n\nWhat went wrong once and shall not again. Written by `brain learn`; edit as you like,"
        " but keep the ids.\n\n## L-0001 When passing text to MATCH, quote each term\n\n"
        "- Lesson: When passing text to MATCH, quote each term.\n- Cause: `-` is an operator.\n"
        '- Detect: `grep -rn "MATCH ?" src`\n- Evidence: commit 1a2b3c\n- Date: 2031-05-02\n- Status: active\n'
    )
    (lesson,) = read_all(tmp_path)
    assert (lesson.id, lesson.state, lesson.command) == ("L-0001", "active", 'grep -rn "MATCH ?" src')
    assert list(problems(tmp_path)) == []


def test_a_persons_file_is_added_to_and_nothing_in_it_changes(tmp_path):
    """Their words, bold keys, line ends and missing last newline stay; ids go on from the highest."""
    mine = (
        "My lessons\r\n\r\n## L-0041: Old pump\r\n\r\n* **Lesson:** Close the valve.\r\n\r\nSome prose.\r\n\r\n"
        "## Other heading\r\n\r\n- Status: not a lesson"
    )
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(mine.encode())
    learn(tmp_path, "Open it again.", today=TODAY)
    after = path.read_bytes().decode()
    assert after.startswith(mine)
    assert "\n" not in after.replace("\r\n", "")
    supersede(tmp_path, 41, 42)
    assert [(lesson.number, lesson.state, lesson.superseded_by) for lesson in read_all(tmp_path)] == [
        (41, "superseded", 42),
        (42, "active", 0),
    ]
    changed = path.read_bytes().decode()
    assert changed.replace("Some prose.\r\n- Status: superseded by L-0042", "Some prose.") == after


def test_nothing_is_deleted_and_circles_are_refused(tmp_path):
    """Superseded and retired lessons stay, with who and why."""
    for text in ("One.", "Two.", "Three."):
        learn(tmp_path, text, today=TODAY)
    supersede(tmp_path, 1, 2)
    retire(tmp_path, 3, "the pump was sold", today=TODAY)
    states = [lesson.status for lesson in read_all(tmp_path)]
    assert states == ["superseded by L-0002", "active", "retired 2031-05-02: the pump was sold"]
    with pytest.raises(UsageError, match="supersedes itself"):
        supersede(tmp_path, 2, 1)
    with pytest.raises(NotFound, match="L-0009; there are: L-0001, L-0002, L-0003"):
        retire(tmp_path, 9, "x", today=TODAY)
    with pytest.raises(UsageError, match="for a reason"):
        retire(tmp_path, 2, " ", today=TODAY)


def test_the_same_lesson_is_not_learnt_twice(tmp_path):
    """Letter case and punctuation do not count; a retired one may be learnt again."""
    learn(tmp_path, "Close the valve.", today=TODAY)
    with pytest.raises(UsageError, match="L-0001 already"):
        learn(tmp_path, "close the VALVE", today=TODAY)
    retire(tmp_path, 1, "no valve", today=TODAY)
    assert learn(tmp_path, "Close the valve", today=TODAY).number == 2
    with pytest.raises(UsageError, match="needs a sentence"):
        learn(tmp_path, " \n ", today=TODAY)


def test_detections_run_only_when_asked_and_tell_what_they_found(tmp_path):
    """0: the fault is there; 1: it is not; anything else: the command failed. Retired lessons are not run."""
    for number, command in enumerate(("echo there", "false", "exit 7", "touch ran"), start=1):
        learn(tmp_path, f"Lesson {number}.", today=TODAY, detect=command)
    retire(tmp_path, 4, "x", today=TODAY)
    assert not (tmp_path / "ran").exists()
    assert [(done.lesson.number, done.found, done.output) for done in check(tmp_path)] == [
        (1, True, "there"),
        (2, False, ""),
        (3, None, ""),
    ]
    assert [done.lesson.number for done in check(tmp_path, [2])] == [2]
    assert not (tmp_path / "ran").exists()
    with pytest.raises(NotFound):
        list(check(tmp_path, [77]))


def test_what_is_wrong_is_named_with_its_line(tmp_path):
    """Ids twice, no directive, wrong dates and states, successors that are not there."""
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_text(
        "## L-0001 A\n\n- Lesson: x\n\n## L-0001 B\n\n- Lesson: y\n- Date: May\n\n## L-0002 C\n\n- Status: odd\n\n"
        "## L-0003 D\n\n- Lesson: z\n- Status: superseded by L-0099\n"
    )
    assert list(problems(tmp_path)) == [
        "docs/lessons.md:5: L-0001 stands there twice, first in line 1",
        "docs/lessons.md:5: L-0001 has the date 'May', expected YYYY-MM-DD",
        "docs/lessons.md:10: L-0002 has no line '- Lesson:'",
        "docs/lessons.md:10: L-0002 has the status 'odd', expected active, superseded by L-..., or retired ...: why",
        "docs/lessons.md:14: L-0003 is superseded by a lesson that is not there",
    ]


@pytest.mark.parametrize(("id", "number"), [("L-0003", 3), ("l-3", 3), ("3", 3)])
def test_ids_are_taken_in_any_spelling(id, number):
    """What is none is refused."""
    assert number_of(id) == number
    with pytest.raises(UsageError):
        number_of(f"x{id}")


def test_wr_ten_processes_that_learn_at_once_lose_nothing(tmp_path):
    """Each lesson is there once, with a number of its own."""
    code = (
        "import sys; from datetime import date; from pathlib import Path\n"
        "from second_brain.journal.lessons import learn\n"
        "for n in range(3): learn(Path(sys.argv[1]), f'Lesson {sys.argv[2]} {n}.', today=date(2031, 5, 2))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(10)]
    assert [process.wait() for process in running] == [0] * 10
    assert [lesson.number for lesson in read_all(tmp_path)] == list(range(1, 31))
    assert len({lesson.lesson for lesson in read_all(tmp_path)}) == 30


def test_wr_a_file_changed_by_somebody_since_it_was_read_is_not_overwritten(tmp_path):
    """The editor's save wins; the error says to try again."""
    path = tmp_path / "a.md"
    path.write_text("one")

    def edit(text: str) -> str:
        path.write_text("somebody else's")
        return text + " two"

    with pytest.raises(ConfigError, match="changed by somebody else"):
        files.change(path, edit)
    assert path.read_text() == "somebody else's"


def test_wr_1_a_new_file_never_replaces_one_that_is_there(tmp_path):
    """It gets another name, however many there are; a name of 255 bytes leaves room for the temporary one."""
    paths = [files.create(tmp_path / "daily.md", f"text {n}") for n in range(3)]
    assert [path.name for path in paths] == ["daily.md", "daily-2.md", "daily-3.md"]
    assert [path.read_text() for path in paths] == ["text 0", "text 1", "text 2"]
    long = files.create(tmp_path / ("あ" * 84 + ".md"), "x")
    assert long.read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".brain")) == []


def test_links_out_of_the_project_are_not_written_through_and_keys_are_masked(tmp_path):
    """Lessons and handoffs; a key in what somebody tells is not kept."""
    from second_brain.journal import handoffs

    outside, project = tmp_path / "outside.md", tmp_path / "project"
    outside.write_text("mine\n")
    (project / "docs").mkdir(parents=True)
    (project / FILE).symlink_to(outside)
    (project / "docs/handoffs").symlink_to(tmp_path)
    key = "ghp_" + "a1B2" * 9
    with pytest.raises(UsageError, match="leads out of the project"):
        learn(project, "X.", today=TODAY)
    with pytest.raises(UsageError, match="leads out of the project"):
        handoffs.write(project, handoffs.Handoff("x", goal="y"), today=TODAY, auto=True)
    assert outside.read_text() == "mine\n"
    learn(tmp_path / "other", f"Deploy with {key}.", today=TODAY)
    path = handoffs.write(tmp_path / "other", handoffs.Handoff("x", goal=f"use {key}"), today=TODAY)
    assert key not in (tmp_path / "other" / FILE).read_text() + path.read_text()
