"""Settings have defaults, complain with file, line and allowed values, and are changed without loss."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain import config
from second_brain.errors import BrainError, ConfigError, UsageError
from second_brain.ranking.adjust import Adjustments

KINDS = ["markdown"]


def settings(home: Path, **variables: str) -> config.Settings:
    return config.load(home, environment=variables)


def add(home: Path, folder: Path, **options: str | None) -> config.SourceSettings:
    chosen = {"name": None, "kind": "markdown", "privacy": None, **options}
    return config.add_source(settings(home), folder, kinds=KINDS, **chosen)[1]  # type: ignore[arg-type]


def test_everything_has_a_default(tmp_path: Path) -> None:
    """A home that does not exist is a valid one; its index lies in it, so that two homes never mix."""
    found = settings(tmp_path / "none")
    assert (found.sources, found.models.embedder, found.fusion.method) == ((), "e5-small", "convex")
    assert found.index == tmp_path / "none" / "index.db"


def test_the_index_and_model_cache_follow_the_environment(tmp_path: Path) -> None:
    """Our variables come first, then their older names, then the platform's folders."""
    older = {"VAULT_INDEX_DB": str(tmp_path / "old.db"), "VAULT_MODEL_CACHE": str(tmp_path / "m"), "VAULT_RERANK": "0"}
    found = config.load(environment=older)
    assert (found.index, found.model_cache, found.rerank) == (tmp_path / "old.db", tmp_path / "m", False)
    newer = config.load(environment={**older, "BRAIN_INDEX": str(tmp_path / "new.db"), "BRAIN_RERANK": "1"})
    assert (newer.index, newer.rerank) == (tmp_path / "new.db", True)
    with pytest.raises(ConfigError, match=r"BRAIN_RERANK is 'maybe'"):
        config.load(environment={"BRAIN_RERANK": "maybe"})


WRONG = {
    "key": ("sources:\n  - name: a\n    pth: /x\n", r"sources.yaml:3: unknown key 'pth'", "did you mean 'path'"),
    "privacy": ("- name: a\n  path: /x\n  privacy: hidden\n", r":3: 'privacy' is 'hidden'", "public, work, personal"),
    "weight": ("- name: a\n  path: /x\n  weight: heavy\n", r":3: 'weight' is 'heavy'", "a number above 0"),
    "zero": ("- name: a\n  path: /x\n  weight: 0\n", r":3: 'weight' is '0'", "a number above 0"),
    "half life": ("- name: a\n  path: /x\n  half_life_days: -1\n", r":3: 'half_life_days'", "or none"),
    "no path": ("- name: a\n", r":1: source 1 has no 'path'", "keys: name"),
    "name": ("- name: a/b\n  path: /x\n", r":1: 'name' is 'a/b'", "letters"),
    "twice": ("- name: a\n  path: /x\n- name: a\n  path: /y\n", r":3: two sources are named 'a'", "another name"),
    "same path": ("- name: a\n  path: /x\n- name: b\n  path: /x\n", r":3: two sources have the path", "remove"),
    "not a list": ("sources: yes\n", r":1: the sources are 'yes'", "expected a list"),
    "syntax": ("- name: a\n  path: /x: y: z\n", r"sources.yaml:2:", "correct"),
    "duplicate key": ("- name: a\n  name: b\n  path: /x\n", r"written twice", "keep one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_setting_names_file_line_and_what_is_allowed(tmp_path: Path, case: str) -> None:
    """What was found and where is in the message, what to type in the hint."""
    text, message, hint = WRONG[case]
    (tmp_path / "sources.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        settings(tmp_path)
    assert hint in caught.value.hint


def test_wrong_model_and_fusion_settings_are_named_too(tmp_path: Path) -> None:
    """models.yaml and settings.yaml complain in the same way."""
    (tmp_path / "models.yaml").write_text("embeder: e5-small\n")
    with pytest.raises(ConfigError, match=r"models.yaml:1: unknown key 'embeder'"):
        settings(tmp_path)
    (tmp_path / "models.yaml").write_text("embedder: hashing\nreranker: none\n")
    (tmp_path / "settings.yaml").write_text("fusion:\n  method: rff\n")
    with pytest.raises(ConfigError, match=r"settings.yaml:2: 'method' is 'rff'"):
        settings(tmp_path)
    (tmp_path / "settings.yaml").write_text("fusion:\n  method: rrf\n  dense_weight: 0.7\n  rrf_k: 10\n")
    found = settings(tmp_path)
    assert (found.models.embedder, found.models.reranker) == ("hashing", None)
    assert (found.fusion.method, found.fusion.dense_weight, found.fusion.rrf_k) == ("rrf", 0.7, 10)


def test_late_interaction_is_on_unless_it_is_switched_off(tmp_path: Path) -> None:
    """``late: off`` in settings.yaml; its weights are shares."""
    assert settings(tmp_path).late
    (tmp_path / "settings.yaml").write_text("late: off\nfusion:\n  late_weight: 0.5\n  code_late_weight: 0\n")
    found = settings(tmp_path)
    assert (found.late, found.fusion.late_weight, found.fusion.code_late_weight) == (False, 0.5, 0.0)
    (tmp_path / "settings.yaml").write_text("late: on\n")
    assert settings(tmp_path).late
    (tmp_path / "settings.yaml").write_text("late: perhaps\n")
    with pytest.raises(ConfigError, match=r"settings.yaml:1: 'late' is 'perhaps'"):
        settings(tmp_path)
    (tmp_path / "settings.yaml").write_text("fusion:\n  dense_weight_beside_late: 1.5\n")
    with pytest.raises(ConfigError, match="'dense_weight_beside_late' is"):
        settings(tmp_path)


def test_how_kinds_and_ages_count_is_a_setting(tmp_path: Path) -> None:
    """What is named is added to the defaults or replaces one of them; a source says its own for itself."""
    plain = settings(tmp_path)
    assert plain.adjustments == Adjustments()
    (tmp_path / "settings.yaml").write_text(
        "ranking:\n  weights: {code: 0.5, Recipe: 1.2}\n  half_life_days: {session: none, log: 30}\n  stale: 1\n"
    )
    found = settings(tmp_path).adjustments
    assert found.weights == {**plain.adjustments.weights, "code": 0.5, "recipe": 1.2}
    assert found.half_lives == {**plain.adjustments.half_lives, "session": math.inf, "log": 30.0}
    assert (found.withdrawn, found.stale) == (0.5, 1.0)
    (tmp_path / "sources.yaml").write_text(
        "- name: a\n  path: /x\n- name: b\n  path: /y\n  weight: 1\n  half_life_days: none\n"
    )
    assert [(each.weight, each.half_life_days) for each in settings(tmp_path).sources] == [
        (None, None),
        (1.0, math.inf),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ranking:\n  weight: {}\n", "unknown key 'weight' in ranking"),
        ("ranking:\n  weights: 2\n", ":2: 'weights' is '2'"),
        ("ranking:\n  weights:\n    code: 0\n", ":3: 'code' is '0'"),
        ("ranking:\n  half_life_days:\n    daily: never\n", ":3: 'daily' is 'never'"),
        ("ranking:\n  stale: 2\n", ":2: 'stale' is '2'"),
    ],
)
def test_a_wrong_adjustment_is_named(tmp_path: Path, text: str, message: str) -> None:
    """With its line."""
    (tmp_path / "settings.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        settings(tmp_path)


def test_adding_and_removing_keeps_every_other_byte(tmp_path: Path) -> None:
    """Comments, order, indents and quoting of a hand-written file survive."""
    for name in ("one", "two", "日本語 ノート"):
        (tmp_path / name).mkdir()
    file = tmp_path / "sources.yaml"
    written = (
        "# mine\nsources:\n    # the vault\n    - name: one   # first\n      path: "
        f"{tmp_path / 'one'}\n      weight: 1.10\n\n# the end\n"
    )
    file.write_text(written)
    add(tmp_path, tmp_path / "two")
    added = add(tmp_path, tmp_path / "日本語 ノート", privacy="secret")
    assert (added.name, added.privacy) == ("日本語 ノート", "secret")
    assert [source.name for source in settings(tmp_path).sources] == ["one", "two", "日本語 ノート"]
    for name in ("two", "日本語 ノート"):
        config.remove_source(settings(tmp_path), name)
    assert file.read_text().split() == written.split()
    assert "# first" in file.read_text()
    config.remove_source(settings(tmp_path), "one")
    assert settings(tmp_path).sources == ()
    assert "# mine" in file.read_text()


def test_a_file_written_in_an_unusual_way_is_left_alone(tmp_path: Path) -> None:
    """What cannot be changed safely is refused, and nothing is lost."""
    (tmp_path / "v").mkdir()
    file = tmp_path / "sources.yaml"
    file.write_text(f"sources: [{{name: a, path: {tmp_path / 'w'}}}]\n")
    with pytest.raises(ConfigError, match="would"):
        add(tmp_path, tmp_path / "v")
    assert file.read_text() == f"sources: [{{name: a, path: {tmp_path / 'w'}}}]\n"


def test_the_first_source_creates_a_file_that_explains_itself(tmp_path: Path) -> None:
    """The new file is private to its owner and lists the keys."""
    folder = tmp_path / "My notes: #1"
    folder.mkdir()
    added = add(tmp_path / "home", folder)
    file = tmp_path / "home" / "sources.yaml"
    assert file.read_text().startswith("# What second-brain reads")
    assert settings(tmp_path / "home").sources == (added,)
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["yes", "null", "1.10", "it's", "a: b"])
def test_names_that_look_like_other_yaml_read_back_as_written(tmp_path: Path, name: str) -> None:
    """A folder may be called anything; a name that cannot be one is refused."""
    folder = tmp_path / "f"
    folder.mkdir()
    if name in ("it's", "a: b"):
        with pytest.raises(UsageError, match="cannot name a source"):
            add(tmp_path, folder, name=name)
    else:
        add(tmp_path, folder, name=name)
        assert settings(tmp_path).sources[0].name == name


def test_what_cannot_be_a_source_is_refused_with_a_way_on(tmp_path: Path) -> None:
    """A missing folder, a file, a folder that is one already, a taken name, an unknown kind or label."""
    folder = tmp_path / "v"
    folder.mkdir()
    (tmp_path / "n.md").write_text("x")
    add(tmp_path, folder)
    for path, options, message in (
        (tmp_path / "none", {}, "does not exist"),
        (tmp_path / "n.md", {}, "is a file"),
        (folder, {}, "is already the source 'v'"),
        (tmp_path, {"name": "v"}, "already named 'v'"),
        (tmp_path, {"kind": "markdwn"}, "kinds: markdown"),
        (tmp_path, {"privacy": "top"}, "not one of: public"),
    ):
        with pytest.raises(UsageError, match=message):
            add(tmp_path, path, **options)


def test_the_stricter_privacy_label_holds(tmp_path: Path) -> None:
    """A document can be stricter than its source, never laxer; an unknown label is the strictest."""
    (tmp_path / "sources.yaml").write_text("- {name: a, path: /x, privacy: work}\n")
    found = settings(tmp_path)
    labels = [found.label("a", own) for own in ("", "public", "personal", "hidden")]
    assert labels == ["work", "work", "personal", "secret"]
    assert found.label("unknown", "public") == "secret"
    assert found.labels_up_to("work") == ("public", "work")
    with pytest.raises(UsageError, match="not one of"):
        found.labels_up_to("hidden")


def test_a_settings_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Bytes that are not UTF-8, and a folder in its place."""
    (tmp_path / "sources.yaml").write_bytes(b"- name: \xff\n")
    with pytest.raises(ConfigError, match="byte 8 is not UTF-8"):
        settings(tmp_path)
    (tmp_path / "models.yaml").mkdir()
    with pytest.raises(BrainError, match=r"models.yaml: cannot be read"):
        settings(tmp_path)


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    """Settings kept in a dotfiles repository are written through the link."""
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "v").mkdir()
    real = tmp_path / "dotfiles" / "sources.yaml"
    real.write_text("# kept\n")
    (tmp_path / "home" / "sources.yaml").symlink_to(real)
    add(tmp_path / "home", tmp_path / "v")
    assert (tmp_path / "home" / "sources.yaml").is_symlink()
    assert real.read_text().startswith("# kept\n")


def test_processes_that_add_and_remove_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each waits for its turn and sees what those before it wrote; two of one folder name get two names."""
    folders = [tmp_path / str(number % 2) / f"s{number // 2}" for number in range(8)]
    for folder in folders:
        folder.mkdir(parents=True)
    (tmp_path / "gone").mkdir()
    add(tmp_path, tmp_path / "gone")
    stale = settings(tmp_path)
    code = (
        "import sys; from pathlib import Path; from second_brain import config\n"
        "found = config.load(sys.argv[1], environment={})\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "config.add_source(found, Path(sys.argv[2]), name=None, kind='markdown', privacy=None, kinds=['markdown'])\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for folder in folders
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"  # all have read the file before any changes it
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    config.remove_source(stale, "gone")
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * len(folders)
    found = settings(tmp_path).sources
    assert {source.path for source in found} == set(folders)
    assert sorted(source.name for source in found) == sorted(
        [f"s{n}" for n in range(4)] + [f"s{n}-2" for n in range(4)]
    )


def test_a_source_that_another_process_removed_is_gone(tmp_path: Path) -> None:
    """Removing it again changes nothing, and what others added meanwhile is known."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    add(tmp_path, tmp_path / "one")
    stale = settings(tmp_path)
    add(tmp_path, tmp_path / "two")
    config.remove_source(settings(tmp_path), "one")
    assert [source.name for source in config.remove_source(stale, "one").sources] == ["two"]
