"""The examples in `deploy/` are well-formed, and name settings and commands that exist."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from second_brain import config
from second_brain.cli.app import COMMANDS

DEPLOY = Path(__file__).parents[3] / "deploy"
FILES = sorted(DEPLOY.rglob("*.yaml"))


def documents(file: Path) -> list[dict]:
    return [document for document in yaml.safe_load_all(file.read_text(encoding="utf-8")) if document]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_file_is_yaml(file: Path):
    """With at least one document."""
    assert documents(file)


def test_compose_starts_qdrant_the_indexer_and_the_api():
    """Each of our containers with a command that there is, after Qdrant; the API on this machine only."""
    services = documents(DEPLOY / "compose.yaml")[0]["services"]
    assert list(services) == ["qdrant", "indexer", "api"]
    for name in ("indexer", "api"):
        assert services[name]["command"][0] in COMMANDS
        assert services[name]["depends_on"] == {"qdrant": {"condition": "service_healthy"}}
    assert services["api"]["ports"] == ["127.0.0.1:8765:8765"]


def settings_of(folder: Path, texts: dict[str, str]):
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return config.load(folder, environment={})


def test_the_settings_in_the_examples_are_read_without_complaint(tmp_path: Path):
    """Both name Qdrant, its key by a variable, and a collection of a source that there is."""
    compose = {file.name: file.read_text(encoding="utf-8") for file in (DEPLOY / "settings").glob("*.yaml")}
    cluster = next(one for one in documents(DEPLOY / "kubernetes" / "brain.yaml") if one["kind"] == "ConfigMap")
    for number, texts in enumerate((compose, cluster["data"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        settings = settings_of(folder, texts)
        assert settings.qdrant is not None
        assert (settings.qdrant.url, settings.qdrant.key_variable) == ("http://qdrant:6333", "QDRANT_KEY")
        assert settings.collections == {"vault": ("notes",)}


def test_the_cluster_has_three_nodes_that_may_not_share_a_machine():
    """And a brain whose replicas survive the loss of one."""
    (nodes,) = (one for one in documents(DEPLOY / "kubernetes" / "qdrant.yaml") if one["kind"] == "StatefulSet")
    assert nodes["spec"]["replicas"] == 3
    assert nodes["spec"]["serviceName"] == "qdrant-nodes"
    rules = nodes["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]
    assert rules["requiredDuringSchedulingIgnoredDuringExecution"]
    brain = next(one for one in documents(DEPLOY / "kubernetes" / "brain.yaml") if one["kind"] == "ConfigMap")
    assert "replicas: 2" in brain["data"]["settings.yaml"]
    (box,) = (one for one in documents(DEPLOY / "kubernetes" / "brain.yaml") if one["kind"] == "Deployment")
    for container in box["spec"]["template"]["spec"]["containers"]:
        assert container["args"][0] in COMMANDS
