"""``rerank`` and ``decompose`` in settings.yaml."""

from __future__ import annotations

import pytest

from second_brain import config
from second_brain.answering.settings import RerankSettings
from second_brain.errors import ConfigError


def loaded(tmp_path, text: str) -> config.Settings:
    (tmp_path / "settings.yaml").write_text(text)
    return config.load(tmp_path, environment={})


def test_they_are_read(tmp_path):
    """Each key by itself; without them the defaults hold."""
    assert loaded(tmp_path, "late: on\n").reranking == RerankSettings(800, 30)
    assert loaded(tmp_path, "rerank:\n  deadline_ms: 200\n").reranking == RerankSettings(200, 30)
    assert loaded(tmp_path, "rerank: {candidates: 5}\n").reranking == RerankSettings(800, 5)
    assert [loaded(tmp_path, text).decompose for text in ("", "decompose: chat\n")] == ["rules", "chat"]


@pytest.mark.parametrize(
    "text",
    ["rerank: {candidates: 31}", "rerank: {deadline_ms: 0}", "rerank: {top: 5}", "rerank: 5", "decompose: magic"],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text):
    """File, line and what is allowed."""
    with pytest.raises(ConfigError, match=r"settings\.yaml:1: ") as wrong:
        loaded(tmp_path, text)
    assert wrong.value.hint
