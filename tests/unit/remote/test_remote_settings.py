"""What ``remote`` of settings.yaml may say, and what ``--remote`` stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from second_brain.cli.__main__ import run
from second_brain.cli.remote import with_address
from second_brain.config import RemoteSettings, load, raise_privacy
from second_brain.errors import ConfigError

WHOLE = r"""
remote:
  url: https://box.example/
  token: $BOX_TOKEN
  paths:
    /data/vault: ~/vault
    'C:\Notes': /mnt/notes
  expects: g3
  cache_mb: 0
  timeout_s: 2.5
  name: laptop
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    """With all keys and with none."""
    assert load(tmp_path, environment={}).remote == RemoteSettings()
    (tmp_path / "settings.yaml").write_text(WHOLE)
    assert load(tmp_path, environment={}).remote == RemoteSettings(
        "https://box.example",
        "BOX_TOKEN",
        (("/data/vault", "~/vault"), ("C:\\Notes", "/mnt/notes")),
        "g3",
        0,
        2.5,
        "laptop",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("remote: {url: box}", "settings.yaml:1: 'url' is 'box'"),
        ("remote: {url: 'http://me:secret@box'}", "'url' is"),
        ("remote: {token: sb_abc}", "'token' holds no name of a variable"),
        ("remote: {paths: [/a]}", "'paths' is no mapping"),
        ("remote: {paths: {/a: [b]}}", "'/a' is a list"),
        ("remote: {paths: {/a: b}}", "'/a: b' is relative"),
        ("remote: {paths: {a: /b}}", "'a: /b' is relative"),
        ("remote: {cache_mb: -1}", "'cache_mb' is '-1'"),
        ("remote: {timeout_s: 0}", "'timeout_s' is '0'"),
        ("remote: {name: '../x'}", "'name' is '../x'"),
        ("remote: {adress: x}", "unknown key 'adress' in remote"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str, tmp_path: Path) -> None:
    """File, line, the value found; a token that was written down is not repeated."""
    (tmp_path / "settings.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environment={})
    assert words in str(caught.value)
    assert "sb_abc" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--remote"], ["--remote=settings"]),
        (["--remote", "pump"], ["--remote=settings", "pump"]),
        (["--remote", "http://box:1", "pump"], ["--remote", "http://box:1", "pump"]),
        (["--remote", "box:8765", "pump"], ["--remote", "box:8765", "pump"]),
        (["--remote", "[::1]:8765"], ["--remote", "[::1]:8765"]),
        (["--remote=http://box", "pump"], ["--remote=http://box", "pump"]),
        (["--remote", "--json"], ["--remote=settings", "--json"]),
        (["--", "--remote"], ["--", "--remote"]),
        (["pump"], ["pump"]),
    ],
)
def test_remote_takes_an_address_or_that_of_the_settings(given: list[str], meant: list[str]) -> None:
    """What is no address behind it is a word of the question, or a source."""
    assert with_address(given) == meant


SOURCES = """# mine
sources:
  - name: a   # first
    path: {a}
    privacy: work   # not for all
    weight: 2
  - {{name: b, path: {b}}}
  - path: {c}
    name: c
"""


def test_a_label_is_made_stricter_in_its_own_line(tmp_path: Path) -> None:
    """Comments and other keys stay; a looser one changes nothing; one that was not written is added."""
    folders = {name: tmp_path / name for name in "abc"}
    for folder in folders.values():
        folder.mkdir()
    file = tmp_path / "sources.yaml"
    text = SOURCES.format(**folders)
    file.write_text(text)
    settings = load(tmp_path, environment={})
    raise_privacy(settings, "a", "public")
    assert file.read_text() == text
    changed = raise_privacy(settings, "a", "secret")
    assert file.read_text() == text.replace("privacy: work ", "privacy: secret ")
    changed = raise_privacy(changed, "c", "secret")
    assert file.read_text().endswith("    name: c\n    privacy: secret\n")
    assert {source.name: source.privacy for source in load(tmp_path, environment={}).sources} == {
        "a": "secret", "b": "personal", "c": "secret"
    }  # fmt: skip
    with pytest.raises(ConfigError, match="the change would"):
        raise_privacy(changed, "b", "secret")


def test_commands_say_what_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an address there is nothing to ask; options that the box decides about are refused."""
    home = ["--home", str(tmp_path)]
    assert run([*home, "search", "--remote", "pump"]) == 1
    assert "no box is named" in capsys.readouterr().err
    assert run([*home, "index", "--remote", "--rebuild"]) == 2
    assert "the box itself decides" in capsys.readouterr().err


def test_a_command_sends_and_says_what_it_did(
    box: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``brain index --remote`` names counts, address and what the box would not believe."""
    monkeypatch.setenv("BRAIN_TOKEN", box.tokens["all"])
    home, vault = tmp_path / "home", tmp_path / "vault"
    vault.mkdir()
    for number in range(3):
        (vault / f"{number}.md").write_text(f"# Note {number}\n\nHeron.\n")
    (home).mkdir()
    (home / "settings.yaml").write_text("remote: {name: 私のノート}\n")
    assert run(["--home", str(home), "add", str(vault), "--name", "vault"]) == 0
    assert run(["--home", str(home), "index", "--remote", box.url]) == 0
    said = capsys.readouterr()
    assert "vault: 3 added" in said.out
    assert f"sent: 3 files, 0.0 MB, to {box.url}" in said.out
    for path in vault.iterdir():
        path.unlink()
    assert run(["--home", str(home), "index", "--remote", box.url]) == 3
    told = capsys.readouterr().err
    assert "lists no files, but 3 are here: they are kept" in told
    assert "brain index --remote --prune 'vault', or brain remove 'vault' on the box" in told
    assert run(["--home", str(home), "search", "--remote", box.url, "heron"]) == 0
    assert "Note 0" in capsys.readouterr().out
