"""The description of the API is made of the table that answers, is sound, and says what is really sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_box import Box, indexed_home, running_box
from jsonschema import Draft202012Validator

from second_brain.servers.api.openapi import described
from second_brain.servers.api.table import ENDPOINTS
from second_brain.wire import PREFIX

WRITTEN = Path(__file__).parents[3] / "docs" / "reference" / "openapi.json"

SHAPE: dict[str, Any] = {
    "type": "object",
    "required": ["openapi", "info", "paths", "components", "security"],
    "properties": {
        "openapi": {"const": "3.1.0"},
        "info": {"type": "object", "required": ["title", "version"]},
        "paths": {
            "propertyNames": {"pattern": "^/"},
            "additionalProperties": {
                "propertyNames": {"enum": ["get", "post"]},
                "additionalProperties": {
                    "required": ["operationId", "responses"],
                    "additionalProperties": False,
                    "properties": {
                        "operationId": {"type": "string"},
                        "summary": {"type": "string"},
                        "description": {"type": "string"},
                        "parameters": {
                            "items": {
                                "oneOf": [
                                    {"required": ["$ref"]},
                                    {
                                        "required": ["name", "in"],
                                        "properties": {"in": {"enum": ["query", "path", "header"]}},
                                        "oneOf": [{"required": ["schema"]}, {"required": ["content"]}],
                                        "if": {"properties": {"in": {"const": "path"}}},
                                        "then": {"properties": {"required": {"const": True}}},
                                    },
                                ]
                            }
                        },
                        "requestBody": {"required": ["content"]},
                        "responses": {
                            "required": ["200"],
                            "propertyNames": {"pattern": "^[1-5][0-9]{2}$"},
                            "additionalProperties": {"required": ["description"]},
                        },
                    },
                },
            },
        },
    },
}
"""What the specification of OpenAPI 3.1 asks of the parts that are used here."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with running_box(indexed_home(tmp_path_factory.mktemp("described"))) as box:
        yield box


def test_the_written_description_is_the_one_that_is_served(box: Box) -> None:
    """`python -m second_brain.servers.api.openapi docs/reference/openapi.json` writes it anew."""
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == json.loads(json.dumps(described()))
    assert box.ask("GET", "/openapi.json", token="").value == json.loads(json.dumps(described()))


def test_the_description_is_one_of_openapi() -> None:
    """Its shape, its schemas, and every reference in it."""
    whole = described()
    Draft202012Validator(SHAPE).validate(whole)
    for schema in whole["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for reference in _references(whole):
        part: Any = whole
        for name in reference.removeprefix("#/").split("/"):
            part = part[name]
    names = [operation["operationId"] for path in whole["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names)) == len(ENDPOINTS)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


REQUESTS: dict[str, tuple[str, str, Any]] = {
    "search": ("POST", "/search", {"query": "heron pump", "mode": "agentic"}),
    "stream": ("POST", "/search/stream", {"query": "heron"}),
    "document": ("GET", "/documents/Pump", None),
    "recent": ("GET", "/documents?limit=2", None),
    "facets": ("GET", "/facets", None),
    "links": ("POST", "/links", {"names": ["Pump"]}),
    "collections": ("GET", "/collections", None),
    "sources": ("GET", "/sources", None),
    "status": ("GET", "/status", None),
    "embeddings": ("POST", "/embeddings", {"input": ["heron"], "input_type": "query"}),
    "rerank": ("POST", "/rerank", {"query": "heron", "documents": ["pump"]}),
    "sync": ("POST", "/documents/sync", {"source": "laptop", "manifest": [{"path": "a.md", "hash": "0" * 32}]}),
}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_requests_and_answers_are_as_described(box: Box, endpoint: Any) -> None:
    """Also those with a status of 400 and above."""
    whole = described()
    method, path, body = REQUESTS[endpoint.name]
    operation = whole["paths"][PREFIX + endpoint.path.replace(":path}", "}")][method.lower()]
    if body is not None:
        _validator(whole, operation["requestBody"]["content"]["application/json"]["schema"]).validate(body)
    reply = box.ask(method, path, body)
    described_as = operation["responses"][str(reply.status)]["content"]
    (media_type,) = described_as
    assert reply.headers["content-type"].startswith(media_type)
    lines = reply.data.splitlines() if endpoint.streams else [reply.data]
    for line in lines:
        _validator(whole, described_as[media_type]["schema"]).validate(json.loads(line))


def _validator(whole: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": whole["components"]})


def test_what_is_described_as_wrong_is_refused(box: Box) -> None:
    """A key that no schema has."""
    whole = described()
    schema = {"$ref": "#/components/schemas/SearchRequest"}
    assert not _validator(whole, schema).is_valid({"query": "a", "lmit": 3})
    assert not _validator(whole, schema).is_valid({"query": "a", "filter": {"sorces": []}})
    assert _validator(whole, schema).is_valid({"query": "a", "filter": {"sources": []}, "per_document": None})
