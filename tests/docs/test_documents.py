"""What the documents promise is true: links lead somewhere, commands run, settings and rooms are all described."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

import second_brain
from second_brain import config
from second_brain.answering.confidence import DOUBTFUL
from second_brain.config import OLDER_NAMES, SOURCE_KEYS
from second_brain.yaml_nodes import load_yaml

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "eval" / "README.md"])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def fences(document: Path, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(document.read_text(encoding="utf-8")) if name == language]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    """Targets exist; anchors are not checked."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (document.parent / target).exists()] == []


@pytest.fixture
def person(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with a folder of notes and nothing set up."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nLast spring we fixed the pump with a new seal.\n")
    config = tmp_path / ".config" / "second-brain"
    config.mkdir(parents=True)
    (config / "models.yaml").write_text("embedder: hashing\n")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("BRAIN_", "VAULT_", "XDG_"))}
    return {**kept, "HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_the_readmes_commands_give_a_first_result(person: dict[str, str]) -> None:
    """Every `brain` line of the README runs as it stands there, and the search finds the note."""
    lines = [line for body in fences(ROOT / "README.md", "sh") for line in body.splitlines()]
    commands = [shlex.split(line) for line in lines if line.startswith("brain ")]
    assert [command[1] for command in commands] == ["add", "index", "search"]
    for command in commands:
        expanded = [part.replace("~", person["HOME"], 1) if part.startswith("~") else part for part in command]
        done = subprocess.run(expanded, env=person, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "new seal" in done.stdout


def test_the_readmes_make_targets_exist() -> None:
    """`make demo` and `make test` are what CI runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    wanted = [
        line.split()[1] for body in fences(ROOT / "README.md", "sh") for line in body.splitlines() if "make " in line
    ]
    assert wanted == ["demo", "test"]
    assert [target for target in wanted if f"\n{target}:" not in makefile] == []
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(f"make {target}" in ci for target in ("lint", "test", "demo"))


def test_the_readmes_python_runs(person: dict[str, str], tmp_path: Path) -> None:
    """The example prints the hit."""
    (code,) = fences(ROOT / "README.md", "python")
    for arguments in (["-m", "second_brain.cli", "add", str(tmp_path / "notes")], ["-m", "second_brain.cli", "index"]):
        subprocess.run([sys.executable, *arguments], env=person, check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", code], env=person, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 Pump ")


def test_every_setting_is_described() -> None:
    """Keys of sources.yaml, variables and their older names stand in the guide, and its examples are valid YAML."""
    guide = ROOT / "docs" / "guides" / "settings.md"
    text = guide.read_text(encoding="utf-8")
    wanted = [*SOURCE_KEYS, *OLDER_NAMES, *OLDER_NAMES.values(), "embedder", "reranker", "chat", "BRAIN_HOME"]
    wanted += ["fusion.method", "fusion.dense_weight", "fusion.code_dense_weight", "fusion.rrf_k"]
    assert [name for name in wanted if f"`{name}`" not in text and f"`${name}`" not in text] == []
    for example in fences(guide, "yaml"):
        assert isinstance(load_yaml(example).value, dict)


def test_the_settings_shown_are_the_defaults(tmp_path: Path) -> None:
    """The example of settings.yaml, and the defaults beside fusion's keys: what somebody has who wrote nothing."""
    guide = ROOT / "docs" / "guides" / "settings.md"
    (example,) = [text for text in fences(guide, "yaml") if "\nfusion:" in text]
    (tmp_path / "settings.yaml").write_text(example, encoding="utf-8")
    shown, default = config.load(tmp_path), config.load(tmp_path / "none")
    named = ("privacy_labels", "redact", "late", "reranking", "decompose", "fusion", "adjustments")
    assert {name: getattr(shown, name) for name in named} == {name: getattr(default, name) for name in named}
    rows = [row for row in guide.read_text(encoding="utf-8").splitlines() if row.startswith("|")]
    for key, value in asdict(default.fusion).items():
        assert f"`{value}`" in next(row for row in rows if f"`fusion.{key}`" in row)


def test_the_guide_names_the_confidence_below_which_an_answer_is_doubted() -> None:
    """It was fitted anew more than once."""
    guide = (ROOT / "docs" / "guides" / "searching.md").read_text(encoding="utf-8")
    assert f"Below {DOUBTFUL} a notice says" in guide


def test_every_room_is_on_the_map() -> None:
    """Each package and module below second_brain stands in ARCHITECTURE, and opens with what it is for."""
    package = Path(second_brain.__file__).parent
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [path for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    names = [path.name for path in rooms if path.name not in ("__init__.py",)]
    assert len(names) > 15
    assert [name for name in names if f"src/second_brain/{name}" not in text] == []
    for path in rooms:
        source = path / "__init__.py" if path.is_dir() else path
        assert source.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""')), source
