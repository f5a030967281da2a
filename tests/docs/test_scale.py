"""The model of scale says what its formulas say: units, directions, published examples, and the document in step."""

from __future__ import annotations

import importlib.util
import math
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "scale_model.py"


@pytest.fixture(scope="module")
def model() -> ModuleType:
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("scale_model", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["scale_model"] = found
    spec.loader.exec_module(found)
    return found


def test_the_document_and_the_picture_are_those_of_the_script(tmp_path):
    """Written anew into a copy, every byte is as it stands."""
    for name in ("scale.md", "scale.svg"):
        (tmp_path / name).write_bytes((ROOT / "docs" / name).read_bytes())
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True, timeout=120)
    for name in ("scale.md", "scale.svg"):
        assert (tmp_path / name).read_text() == (ROOT / "docs" / name).read_text(), f"run {SCRIPT.name} docs"
    assert ElementTree.parse(tmp_path / "scale.svg").getroot().tag.endswith("svg")


def test_each_constant_says_why_it_is_believed(model):
    """A unit, one of three bases, and for what others published an address."""
    for name, found in model.C.items():
        assert found.value > 0, name
        assert found.unit, name
        assert found.basis in ("measured", "published", "assumed"), name
        assert found.basis == "assumed" or found.source, name
        assert found.basis != "published" or "https://" in found.source, name


def test_more_passages_never_cost_less(model):
    """Memory, disk, time, nodes and hours grow; questions a second fall."""
    for cost in (
        model.sqlite_disk,
        model.sqlite_memory,
        model.sqlite_latency,
        model.sqlite_work,
        lambda passages: model.embedding_hours(passages, model.gpu_rate()),
        *(lambda passages, kind=kind: model.qdrant_memory(passages, kind) for kind in ("none", "scalar", "binary")),
        *(lambda passages, kind=kind: model.qdrant_disk(passages, kind) for kind in ("none", "scalar", "binary")),
    ):
        values = [cost(passages) for passages in model.SIZES]
        assert all(low < high for low, high in pairwise(values))
    counts = [model.nodes(passages, "scalar") for passages in model.SIZES]
    assert counts == sorted(counts)
    rates = [model.questions_per_s(passages, "scalar") for passages in model.SIZES]
    assert all(more > fewer for more, fewer in pairwise(rates))


def test_quantization_saves_memory_and_costs_disk(model):
    """Originals stay on disk, beside what is searched."""
    memory = [model.qdrant_memory(1e9, kind) for kind in ("none", "scalar", "binary")]
    assert memory == sorted(memory, reverse=True)
    assert model.qdrant_disk(1e9, "none") < model.qdrant_disk(1e9, "binary") < model.qdrant_disk(1e9, "scalar")


def test_the_published_example_of_memory_comes_out(model):
    """A million vectors of 1024 dimensions are 6,144,000,000 bytes."""
    assert model.dense_memory(1e6, "none", 1024) == 6_144_000_000


def test_what_was_measured_here_comes_out(model):
    """The bytes of a real index and the time of a real search, within a tenth."""
    catalogue_and_vectors = model.value("catalogue") + model.value("vector row") + 1641
    assert catalogue_and_vectors == pytest.approx(3662, rel=0.1)  # 73,441,280 B over 20,052 passages
    assert model.sqlite_latency(20_052) == pytest.approx(28.5, rel=0.1)
    assert model.linear("lexical", 80_213) == pytest.approx(6.4 * 1.78)


def test_memory_of_all_copies_fits_into_the_nodes(model):
    """And one node less would be too few, but for the least of three."""
    for passages in model.SIZES:
        for kind in ("none", "scalar", "binary"):
            count = model.nodes(passages, kind)
            room = model.value("node memory") * model.value("node use")
            needed = model.qdrant_memory(passages, kind) * model.value("replicas")
            assert needed <= count * room
            assert count == 3 or needed > (count - 1) * room


@pytest.mark.parametrize(("cores", "load"), [(1, 0.5), (2, 0.7), (8, 0.8)])
def test_the_simulation_agrees_with_erlangs_formula(model, cores, load):
    """One shard with exponential times: the mean time is service and wait of M/M/c."""
    mean = 10.0

    def service(chance: random.Random) -> float:
        return chance.expovariate(1 / mean)

    found = model.simulate(shards=1, cores=cores, load=load, service=service, mean=mean, count=150_000)
    assert sum(found) / len(found) == pytest.approx(mean + model.erlang_wait(cores, load, mean), rel=0.05)


def test_one_core_waits_as_the_textbook_says(model):
    """M/M/1 at load r waits r / (1 - r) times the service."""
    assert model.erlang_wait(1, 0.8, 10.0) == pytest.approx(40.0)
    assert model.erlang_wait(8, 0.0001, 10.0) == pytest.approx(0.0, abs=1e-6)


def test_service_times_have_the_published_spread(model):
    """Mean and ratio of the 95th percentile to it."""
    chance = random.Random(7)
    draw = model.spread(12.0)
    drawn = sorted(draw(chance) for _ in range(100_000))
    mean = sum(drawn) / len(drawn)
    assert mean == pytest.approx(12.0, rel=0.02)
    assert model.percentile(drawn, 0.95) / mean == pytest.approx(model.value("tail"), rel=0.02)


def test_more_load_is_never_faster_and_the_slowest_of_more_shards_is_slower(model):
    """Of the same work, at each percentile."""

    def latencies(shards: int, load: float) -> list[float]:
        found = model.simulate(shards=shards, cores=8, load=load, service=model.spread(10.0), mean=10.0, count=4_000)
        return [model.percentile(found, share) for share in (0.5, 0.95, 0.99)]

    light, heavy, wide = latencies(3, 0.2), latencies(3, 0.9), latencies(30, 0.2)
    assert all(one <= other for one, other in zip(light, heavy, strict=True))
    assert all(one < other for one, other in zip(light, wide, strict=True))


def test_units_fit_together(model):
    """Questions a second times the work of a question is the planned share of all cores."""
    count = model.nodes(1e9, "scalar")
    busy_ms = model.questions_per_s(1e9, "scalar") * count * model.shard_work(1e9, count)
    assert busy_ms == pytest.approx(count * model.value("node cores") * 1000 * model.value("busy"))
    assert model.embedding_hours(1e6, 1e6) == pytest.approx(1e6 * model.value("tokens") / 1e6 / 3600)
    assert math.isclose(model.gpu_rate() * model.value("token work"), model.value("GPU") * model.value("GPU use"))
    assert (model.size(999), model.size(1.5e6), model.size(2e15)) == ("999 B", "1.5 MB", "2,000 TB")
    assert (model.duration(12.4), model.duration(1500)) == ("12 ms", "1.5 s")
    assert (model.hours(0.5), model.hours(20), model.hours(96)) == ("30 min", "20 h", "4 days")


def test_a_document_without_a_part_is_refused(model):
    """No table is lost without a word."""
    assert model.filled("a\n<!-- scale: x -->\nold\n<!-- end -->\nb", {"x": "new"}) == (
        "a\n<!-- scale: x -->\n\nnew\n\n<!-- end -->\nb"
    )
    with pytest.raises(SystemExit, match="no part 'y'"):
        model.filled("nothing", {"y": "new"})
