"""Group KG: the knowledge graph's file with many writers, half lines and foreign hands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from second_brain.memory.file import MemoryFile
from second_brain.memory.lines import Entity, Relation
from second_brain.memory.operations import KnowledgeGraph

WRITER = """
import sys
from pathlib import Path
from second_brain.memory.file import MemoryFile
from second_brain.memory.lines import Entity
from second_brain.memory.operations import KnowledgeGraph
graph = KnowledgeGraph(MemoryFile(Path(sys.argv[1])))
for n in range(int(sys.argv[3])):
    graph.create_entities([Entity(f"{sys.argv[2]}-{n}", "t", ("x" * 200,))])
    graph.add_observations([("shared", [f"{sys.argv[2]}-{n}"])])
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    """A process that adds entities and observations one by one."""
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)])


def opened(path: Path) -> KnowledgeGraph:
    """The graph of a file."""
    return KnowledgeGraph(MemoryFile(path))


def test_kg_1_twenty_parallel_calls_lose_nothing(tmp_path):
    """In one server's threads: creates, adds and deletes at once."""
    graph = opened(tmp_path / "memory.jsonl")
    graph.create_entities([Entity("shared", "t"), *(Entity(f"old-{n}", "t") for n in range(20))])
    with ThreadPoolExecutor(20) as pool:
        for n in range(20):
            pool.submit(graph.create_entities, [Entity(f"new-{n}", "t")])
            pool.submit(graph.add_observations, [("shared", [f"fact {n}"])])
            pool.submit(graph.delete_entities, [f"old-{n}"])
    found = {entity.name: entity for entity in graph.read_graph(limit=100).entities}
    assert sorted(found) == sorted(["shared", *(f"new-{n}" for n in range(20))])
    assert sorted(found["shared"].observations) == sorted(f"fact {n}" for n in range(20))


def test_kg_1_many_processes_lose_nothing_and_a_killed_one_breaks_nothing(tmp_path):
    """Four write at once, one is killed in the middle; the file is valid at every moment."""
    path = tmp_path / "memory.jsonl"
    opened(path).create_entities([Entity("shared", "t")])
    processes = [writer(path, f"p{n}", 12) for n in range(3)]
    victim = writer(path, "victim", 10_000)
    while "victim-3" not in path.read_text(encoding="utf-8"):
        time.sleep(0.01)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    while any(process.poll() is None for process in processes):
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)
        time.sleep(0.02)
    assert [process.returncode for process in processes] == [0, 0, 0]
    graph = opened(path).file.read()
    names = {entity.name for entity in graph.entities}
    assert {f"p{n}-{m}" for n in range(3) for m in range(12)} <= names
    shared = next(entity for entity in graph.entities if entity.name == "shared")
    assert {f"p{n}-{m}" for n in range(3) for m in range(12)} <= set(shared.observations)
    assert graph.bad == ()


def test_kg_3_a_missing_newline_and_glued_records_are_mended(tmp_path):
    """Appended by `echo >>`; two objects on a line; our own writes end in a newline."""
    path = tmp_path / "memory.jsonl"
    one = '{"type":"entity","name":"A","entityType":"t","observations":[]}'
    two = '{"type":"entity","name":"B","entityType":"t","observations":["x"]}'
    path.write_text(one + two + "\n" + '{"type":"relation","from":"A","to":"B","relationType":"r"}')
    graph = opened(path)
    assert [entity.name for entity in graph.read_graph().entities] == ["A", "B"]
    graph.create_entities([Entity("C", "t")])
    assert path.read_bytes().endswith(b"\n")
    assert [entity.name for entity in graph.read_graph().entities] == ["A", "B", "C"]
    assert graph.read_graph().relations == (Relation("A", "B", "r"),)


@pytest.mark.parametrize(
    "bad",
    ['{"type":"entity","name":"A"', "garbage", "[1,2]", '{"type":"entity","entityType":"t"}', "\x00\x01", "[" * 5000,
     '{"type":"relation","from":"A","to":1,"relationType":"r"}'],
)  # fmt: skip
def test_kg_3_a_bad_line_costs_nothing_else_and_is_kept_aside(tmp_path, bad):
    """The rest is usable; before the next write the line goes into the quarantine file."""
    path = tmp_path / "memory.jsonl"
    good = '{"type":"entity","name":"G","entityType":"t","observations":["o"]}'
    path.write_text(f"{good}\n{bad}\n{good.replace('G', 'H')}\n", encoding="utf-8")
    graph = opened(path)
    assert [entity.name for entity in graph.read_graph().entities] == ["G", "H"]
    assert path.read_text(encoding="utf-8").splitlines()[1] == bad.splitlines()[0]
    graph.create_entities([Entity("I", "t")])
    assert [json.loads(line)["name"] for line in path.read_text(encoding="utf-8").splitlines()] == ["G", "H", "I"]
    kept = graph.file.quarantine.read_text(encoding="utf-8")
    assert kept.strip()
    assert len(kept.splitlines()) == 1


def test_keys_and_types_that_are_not_ours_survive(tmp_path):
    """A newer program's keys, other records, an entity without observations, a byte-order mark, lone surrogates."""
    path = tmp_path / "memory.jsonl"
    path.write_text(
        '\ufeff{"type":"entity","name":"A","entityType":"t","observations":["x"],"score":1.5}\n'
        '{"type":"entity","name":"B"}\n'
        '{"type":"note","text":"cut \\ud83d here"}\n'
        '{"type":"relation","from":"A","to":"B","relationType":"r","since":"2031"}\n',
        encoding="utf-8",
    )
    opened(path).add_observations([("B", ["y"])])
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"type": "entity", "name": "A", "entityType": "t", "observations": ["x"], "score": 1.5},
        {"type": "entity", "name": "B", "entityType": "", "observations": ["y"]},
        {"type": "relation", "from": "A", "to": "B", "relationType": "r", "since": "2031"},
        {"type": "note", "text": "cut ? here"},
    ]


def test_what_a_program_without_our_lock_writes_meanwhile_is_kept(tmp_path):
    """The reference server knows no lock: a change that it makes while we compute is not lost."""
    path = tmp_path / "memory.jsonl"
    file = MemoryFile(path)
    opened(path).create_entities([Entity("A", "t")])
    calls = []

    def change(graph):
        calls.append(len(graph.entities))
        if len(calls) == 1:
            with path.open("a") as stream:
                stream.write('{"type":"entity","name":"Other","entityType":"t","observations":[]}')
        return type(graph)((*graph.entities, Entity("Mine", "t")), graph.relations, graph.others), None

    file.change(change)
    assert [entity.name for entity in file.read().entities] == ["A", "Other", "Mine"]
    assert calls == [1, 2]
