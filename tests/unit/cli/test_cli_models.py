"""``brain models`` tells which model plays which role, and where texts are sent."""

from __future__ import annotations

import json
from pathlib import Path

from running_brain import Brain


def write_models(folder: Path, text: str) -> None:
    """The settings file of the home that the fixture ``brain`` uses."""
    (folder / "home" / "models.yaml").write_text("embedder: hashing\n" + text, encoding="utf-8")


def test_the_default_sends_nothing_anywhere(brain: Brain) -> None:
    """One embedder, no reranker, no chat model, and nothing to fetch."""
    assert json.loads(brain("models", "--json").out)["roles"] == [
        {"role": "embedder", "model": "hashing", "sends": ""},
        {"role": "reranker", "model": "", "sends": ""},
        {"role": "chat", "model": "", "sends": ""},
    ]
    assert "nothing to fetch" in brain("models", "--fetch").err


def test_an_endpoint_is_shown_with_what_may_be_sent_there(brain: Brain, tmp_path: Path) -> None:
    """Its model, its address and the highest label."""
    write_models(tmp_path, "chat:\n  url: https://api.example.com/v1\n  model: small\n  privacy: work\n")
    shown = brain("models").out
    assert "small" in shown
    assert "texts up to 'work' are sent to https://api.example.com/v1" in shown


def test_an_endpoint_elsewhere_must_say_what_may_be_sent(brain: Brain, tmp_path: Path) -> None:
    """On this machine everything may; elsewhere the user decides."""
    write_models(tmp_path, "chat: {url: 'https://api.example.com/v1', model: small}\n")
    outcome = brain("models")
    assert outcome.code != 0
    assert "models.yaml:2: 'chat' sends texts to another machine" in outcome.err
    assert "add `privacy:`" in outcome.err
    write_models(tmp_path, "chat: {url: 'http://127.0.0.1:1/v1', model: small}\n")
    assert "up to 'secret'" in brain("models").out


def test_wrong_endpoints_are_named_with_what_is_allowed(brain: Brain, tmp_path: Path) -> None:
    """Keys in the file, credentials in the url, other schemes, unknown keys."""
    for text, problem in {
        "chat: {model: small}": "'chat' has no 'url'",
        "chat: {url: 'http://127.0.0.1/v1'}": "'chat' names no 'model'",
        "chat: {url: 'ftp://127.0.0.1/v1', model: m}": "'url' is 'ftp://127.0.0.1/v1'",
        "chat: {url: 'http://me:pw@127.0.0.1/v1', model: m}": "'url' is",
        "chat: {url: 'http://127.0.0.1/v1', model: m, key: 'sk-123 456'}": "'key' is",
        "chat: {url: 'http://127.0.0.1/v1', modle: m}": "unknown key 'modle' in chat",
        "chat: small": "'chat' is 'small'",
        "reranker: {url: 'http://127.0.0.1', privacy: hidden}": "'privacy' is 'hidden'",
    }.items():
        write_models(tmp_path, text + "\n")
        outcome = brain("models")
        assert outcome.code != 0, text
        assert problem in outcome.err
