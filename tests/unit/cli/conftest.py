from __future__ import annotations

from pathlib import Path

import pytest
from running_brain import NOTES, Brain, Outcome

from second_brain.cli.__main__ import run


@pytest.fixture
def brain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Brain:
    """Run ``brain`` in this process: ``brain('search', 'pump').out``. Home and index are in ``tmp_path / 'home'``."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    monkeypatch.setenv("BRAIN_HOME", str(home))
    monkeypatch.setenv("BRAIN_MODEL_CACHE", str(tmp_path / "models"))
    for name in ("BRAIN_INDEX", "BRAIN_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes in English and Japanese, not indexed."""
    root = tmp_path / "notes"
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def indexed(brain: Brain, vault: Path) -> Path:
    """The three notes, indexed as the source 'notes'."""
    assert brain("add", vault).code == 0
    assert brain("index", "--quiet").code == 0
    return vault
