"""A model of second-brain beyond this machine: memory, disk, embedding hours, questions per second, latency.

    python scripts/scale_model.py docs     writes the tables into docs/scale.md, and docs/scale.svg beside it

Plain formulas over named constants, each with its unit, its basis (measured here, published by others, assumed) and
where it comes from. Latency under load is simulated with a seed, so that the same text comes out on every machine.
Sizes are in bytes, times in milliseconds, work in core-milliseconds: one core busy for a millisecond.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

Basis = Literal["measured", "published", "assumed"]
Quantization = Literal["none", "scalar", "binary"]

SIZES = tuple(10**power for power in range(4, 10))
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
SEED = 20311


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the model: what it is, its unit, and why it is believed."""

    value: float
    unit: str
    basis: Basis
    source: str


BENCH = "`make bench`, docs/performance.md"
TWICE = "the same benchmark over 3,000 and 12,000 notes by turns, twice, p50"
PAGES = "`dbstat` over 24,298 passages of a public vault of 13,417 notes"
RESULTS = "https://qdrant.tech/benchmarks/results-1-100-thread-2024-06-15.json"
CAPACITY = "https://qdrant.tech/documentation/capacity-planning/"
QUANTIZED = "https://qdrant.tech/documentation/manage-data/quantization/"
CONFIGURED = "https://github.com/qdrant/qdrant/blob/master/config/config.yaml"
SCALING = "https://qdrant.tech/documentation/scaling/horizontal-scaling/"

C: dict[str, Constant] = {
    "dimensions": Constant(384, "dimensions", "measured", "the bundled embedder"),
    "tokens": Constant(106, "tokens / passage", "measured", f"texts of the embedder's benchmark, {BENCH}"),
    "text": Constant(556, "B / passage", "measured", PAGES),
    "catalogue": Constant(1577, "B / passage", "measured", f"{PAGES}: everything but vectors and token codes"),
    "vector row": Constant(480, "B / passage", "measured", "`dbstat` over 20,052 passages of generated notes"),
    "matrix": Constant(384, "B / passage", "measured", "`index.db.vectors`: one byte a dimension, mapped"),
    "token codes": Constant(16.4, "B / token", "measured", "as above: 16 B a token, 1,641 B of pages for 1,600 B"),
    "terms": Constant(61.6, "distinct terms / passage", "measured", PAGES.replace("`dbstat`", "the vocabulary")),
    "term share": Constant(
        0.0375, "of passages hold a word", "measured", "same vault, by occurrence, without its 50 commonest terms"
    ),
    "query terms": Constant(8, "words / question", "assumed", "as in the questions of the benchmark"),
    "base memory": Constant(220e6, "B", "measured", f"one process with the embedder loaded, {BENCH}"),
    "cores": Constant(2, "cores / machine", "measured", "the machine of the benchmark"),
    "embed": Constant(12.1, "ms / question", "measured", f"{BENCH}, both cores"),
    "lexical": Constant(6.4, "ms at 20,052 passages", "measured", f"{BENCH}, one core"),
    "lexical growth": Constant(1.78, "times at 80,213", "measured", f"{TWICE}: 1.90 and 1.65"),
    "dense": Constant(1.8, "ms at 20,052 passages", "measured", f"{BENCH}, both cores, exact"),
    "dense growth": Constant(1.66, "times at 80,213", "measured", f"{TWICE}: 1.31 and 2.01"),
    "rest": Constant(5.8, "ms / 100 candidates", "measured", f"late, fuse, adjust, quote: {BENCH}, one core"),
    "embed tokens": Constant(7245, "tokens / s", "measured", f"{BENCH}, both cores"),
    "token work": Constant(322e9 / 7245, "FLOP / token", "measured", BENCH),
    "GPU": Constant(65e12, "FLOP/s", "published", "NVIDIA T4, FP16: https://www.nvidia.com/en-us/data-center/tesla-t4/"),
    "GPU use": Constant(0.2, "of its peak", "assumed", "short texts, no tuning"),
    "float": Constant(4, "B / dimension", "published", CAPACITY),
    "overhead": Constant(1.5, "times the vectors", "published", CAPACITY),
    "scalar": Constant(4, "times smaller", "published", QUANTIZED),
    "binary": Constant(32, "times smaller", "published", QUANTIZED),
    "links": Constant(16, "links / vector (m), twice on the lowest layer", "published", CONFIGURED),
    "link": Constant(4, "B / link", "assumed", "a 32-bit number; compressed graphs take less"),
    "point": Constant(48, "B / point in memory", "assumed", "id, version, indexed fields"),
    "posting": Constant(8, "B / term of a passage", "assumed", "a 32-bit number and a 32-bit weight"),
    "payload": Constant(900, "B / passage", "assumed", "text, path, heading, dates; token codes come on top"),
    "segments": Constant(1.2, "times", "assumed", "write-ahead log, and segments that are being merged"),
    "search work": Constant(
        8 * 1000 / 646.2, "core-ms / search of a million", "published",
        f"gist-960, int8 with rescoring, precision 0.96: 646 requests/s on 8 vCPU, the slowest of four sets; {RESULTS}",
    ),
    "posting work": Constant(10e-6, "core-ms / posting", "assumed", "10 ns, as of inverted indexes that skip"),
    "tail": Constant(4.95 / 3.54, "p95 / mean of one search", "published", f"dbpedia-openai-1M, one thread; {RESULTS}"),
    "network": Constant(1.0, "ms / question", "assumed", "within a data centre, both ways"),
    "node cores": Constant(8, "cores / node", "assumed", "as in the published benchmark"),
    "node memory": Constant(64e9, "B / node", "assumed", ""),
    "node use": Constant(0.8, "of a node's memory", "assumed", "the rest is the system's"),
    "replicas": Constant(2, "copies", "assumed", "one node may fail"),
    "least nodes": Constant(3, "nodes", "published", f"works on without one of them: {SCALING}"),
    "busy": Constant(0.6, "of the cores", "assumed", "what is planned for; see latency by load"),
}  # fmt: skip


def value(name: str) -> float:
    """The number of a constant."""
    return C[name].value


# -- one machine: SQLite -------------------------------------------------------------------------------------------


def sqlite_disk(passages: float) -> float:
    """Bytes of ``index.db`` and its matrix.

    disk = passages x (catalogue + vector row + token codes x tokens + matrix)
    """
    return passages * (
        value("catalogue") + value("vector row") + value("token codes") * value("tokens") + value("matrix")
    )


def sqlite_memory(passages: float) -> float:
    """Bytes that should be resident: the process with its model, and the matrix, which every search reads whole."""
    return value("base memory") + passages * value("matrix")


def linear(stage: Literal["lexical", "dense"], passages: float) -> float:
    """Milliseconds of a pass over all passages: the line through the two sizes at which it was measured."""
    at, ratio = value(stage), value(f"{stage} growth")
    return at * (1 + (ratio - 1) * (passages - 20_052) / (80_213 - 20_052))


def rest(passages: float) -> float:
    """Milliseconds for the candidates: one in two hundred passages, 100 at least and 400 at most."""
    return value("rest") * min(max(passages / 200, 100), 400) / 100


def sqlite_latency(passages: float) -> float:
    """Milliseconds of one hybrid search on an idle machine."""
    return value("embed") + linear("lexical", passages) + linear("dense", passages) + rest(passages)


def sqlite_work(passages: float) -> float:
    """Core-milliseconds of one hybrid search."""
    both = value("embed") + linear("dense", passages)
    return both * value("cores") + linear("lexical", passages) + rest(passages)


# -- many machines: Qdrant -----------------------------------------------------------------------------------------


def qdrant_memory(passages: float, quantization: Quantization, dimensions: float | None = None) -> float:
    """Bytes in memory, of one copy.

    none     vectors x dimensions x 4 B x 1.5, as published
    scalar   the same of one byte a dimension, with links and points by themselves; originals on disk
    binary   the same of one bit a dimension

    The index of terms comes on top: passages x terms x posting.
    """
    return dense_memory(passages, quantization, dimensions) + passages * value("terms") * value("posting")


def dense_memory(passages: float, quantization: Quantization, dimensions: float | None = None) -> float:
    """Bytes in memory for the vectors and their graph, of one copy."""
    vector = (dimensions or value("dimensions")) * value("float")
    if quantization == "none":
        return passages * vector * value("overhead")
    graph = 2 * value("links") * value("link") * (1 + 1 / value("links"))
    return passages * (vector / value(quantization) * value("overhead") + graph + value("point"))


def qdrant_disk(passages: float, quantization: Quantization) -> float:
    """Bytes on disk, of one copy: vectors, graph, terms, payload with token codes, and what is being merged."""
    vector = value("dimensions") * value("float")
    quantized = 0.0 if quantization == "none" else vector / value(quantization)
    graph = 2 * value("links") * value("link") * (1 + 1 / value("links"))
    terms = value("terms") * value("posting")
    payload = value("payload") + 16 * value("tokens")
    return passages * (vector + quantized + graph + terms + payload) * value("segments")


def nodes(passages: float, quantization: Quantization) -> int:
    """Nodes that hold all copies in memory, and survive the loss of one."""
    needed = qdrant_memory(passages, quantization) * value("replicas")
    return max(int(value("least nodes")), math.ceil(needed / (value("node memory") * value("node use"))))


def shard_work(passages: float, shards: int) -> float:
    """Core-milliseconds of one question in one shard.

    dense   work of a million x log2(passages of the shard) / log2(a million): HNSW visits O(log n) vectors
    terms   query terms x share of passages that hold one x passages of the shard x work of a posting
    """
    own = passages / shards
    dense = value("search work") * math.log2(max(own, 2)) / math.log2(1e6)
    return dense + value("query terms") * value("term share") * own * value("posting work")


def questions_per_s(passages: float, quantization: Quantization) -> float:
    """Questions a second of the whole cluster at the planned load: each asks every shard once."""
    count = nodes(passages, quantization)
    return count * value("node cores") * 1000 * value("busy") / (count * shard_work(passages, count))


def asking_cores(passages: float, rate: float) -> float:
    """Cores of the machines that take the questions, embed them and rank what the shards answer, at the planned load.

    cores = questions/s x (embed x cores of the benchmark + rest) / busy
    """
    return rate * (value("embed") * value("cores") + rest(passages)) / 1000 / value("busy")


def embedding_hours(passages: float, rate: float) -> float:
    """Hours to embed everything once at ``rate`` tokens a second."""
    return passages * value("tokens") / rate / 3600


def gpu_rate() -> float:
    """Tokens a second of one GPU: its peak, the share of it that is used, the work of a token as measured here."""
    return value("GPU") * value("GPU use") / value("token work")


# -- latency under load --------------------------------------------------------------------------------------------


def erlang_wait(cores: int, load: float, service: float) -> float:
    """The mean wait of M/M/c in the unit of ``service``, its mean; ``load`` is the share of time that cores are busy.

    Source: A. K. Erlang, 1917 (Erlang C). The simulation is checked against it.
    """
    offered = cores * load
    tail = offered**cores / math.factorial(cores) / (1 - load)
    waiting = tail / (sum(offered**k / math.factorial(k) for k in range(cores)) + tail)
    return waiting * service / (cores * (1 - load))


def simulate(
    *, shards: int, cores: int, load: float, service: Callable[[random.Random], float], mean: float, count: int
) -> list[float]:
    """Milliseconds from question to answer, without what does not queue, sorted.

    Questions arrive at random (Poisson). Each is one task on every shard's node, first come first served by its cores;
    it is answered when the slowest shard has answered. ``mean`` is that of ``service``; the first tenth is left out,
    in which the queues fill.
    """
    chance = random.Random(SEED)
    rate = cores * load / mean
    now, arrivals = 0.0, []
    for _ in range(count):
        now += chance.expovariate(rate)
        arrivals.append(now)
    ends = [0.0] * count
    for _ in range(shards):
        free = [0.0] * cores
        for number, arrived in enumerate(arrivals):
            end = max(arrived, free[0]) + service(chance)
            heapq.heapreplace(free, end)
            ends[number] = max(ends[number], end)
    return sorted(end - arrived for end, arrived in zip(ends[count // 10 :], arrivals[count // 10 :], strict=True))


def spread(mean: float) -> Callable[[random.Random], float]:
    """Service times: log-normal with this mean and the published ratio of p95 to mean.

    p95 / mean = exp(1.645 s - s^2 / 2), solved for s.
    """
    sigma = 1.645 - math.sqrt(1.645**2 - 2 * math.log(value("tail")))
    mu = math.log(mean) - sigma**2 / 2
    return lambda chance: chance.lognormvariate(mu, sigma)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the sorted values are."""
    return values[min(len(values) - 1, int(share * len(values)))]


@dataclass(frozen=True, slots=True)
class Place:
    """Where questions are asked: passages, shards, cores of each, core-ms of a question in one, ms beside the queue."""

    name: str
    passages: float
    shards: int
    cores: int
    work: float
    fixed: float

    def latencies(self, load: float) -> tuple[float, float, float]:
        """p50, p95 and p99 in milliseconds."""
        count = 12_000 if self.shards < 10 else 3_000
        found = simulate(
            shards=self.shards, cores=self.cores, load=load, service=spread(self.work), mean=self.work, count=count
        )
        p50, p95, p99 = (percentile(found, share) + self.fixed for share in (0.5, 0.95, 0.99))
        return p50, p95, p99

    def rate(self, load: float) -> float:
        """Questions a second at this load."""
        return load * self.cores * 1000 / self.work


def places() -> list[Place]:
    """One machine with a personal memory, and clusters of three sizes."""
    # On one machine a question is one task that keeps one core busy; in truth its parts share both cores, so that
    # it is answered sooner while nobody else asks, and just as late when everybody does.
    found = [Place("SQLite, 100 thousand", 1e5, 1, int(value("cores")), sqlite_work(1e5), 0.0)]
    for passages, name in ((1e6, "a million"), (1e8, "100 million"), (1e9, "a billion")):
        count = nodes(passages, "scalar")
        work = shard_work(passages, count)
        beside = value("embed") + rest(passages) + value("network")
        found.append(Place(f"Qdrant, {name}", passages, count, int(value("node cores")), work, beside))
    return found


# -- text ----------------------------------------------------------------------------------------------------------


def size(count: float) -> str:
    """Bytes as people read them, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:,.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def duration(ms: float) -> str:
    """Milliseconds as people read them."""
    return f"{ms:,.0f} ms" if ms < 1000 else f"{ms / 1000:,.1f} s"


def hours(count: float) -> str:
    """Hours as people read them."""
    if count < 1:
        return f"{count * 60:.0f} min"
    return f"{count:,.0f} h" if count < 48 else f"{count / 24:,.0f} days"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(passages: float) -> str:
    """``10^6``."""
    return f"10^{round(math.log10(passages))}"


def constants() -> str:
    """Every constant with its basis."""
    order: tuple[Basis, ...] = ("measured", "published", "assumed")
    rows = [
        (name, f"{found.value:.4g}" if found.value < 1e5 else f"{found.value:.3g}", found.unit, basis, found.source)
        for basis in order
        for name, found in C.items()
        if found.basis == basis
    ]
    return table(("constant", "value", "unit", "basis", "source"), rows)


def one_machine() -> str:
    """SQLite by passages."""
    rows = []
    for passages in SIZES:
        work = sqlite_work(passages)
        rate = value("cores") * 1000 * value("busy") / work
        cpu = embedding_hours(passages, value("embed tokens"))
        rows.append(
            (
                number(passages), size(sqlite_memory(passages)), size(sqlite_disk(passages)),
                duration(sqlite_latency(passages)), f"{rate:,.1f}" if rate >= 0.1 else f"{rate:.3f}", hours(cpu),
            )
        )  # fmt: skip
    return table(("passages", "memory", "disk", "one search, idle", "questions/s", "embedding, 2 cores"), rows)


def many_machines() -> str:
    """Qdrant with scalar quantization by passages."""
    rows = []
    for passages in SIZES:
        count = nodes(passages, "scalar")
        rate = questions_per_s(passages, "scalar")
        copies = value("replicas")
        rows.append(
            (
                number(passages), str(count), size(qdrant_memory(passages, "scalar") * copies / count),
                size(qdrant_disk(passages, "scalar") * copies / count),
                f"{shard_work(passages, count):,.1f} core-ms", f"{rate:,.0f}", f"{rate / count:,.1f}",
                f"{asking_cores(passages, rate):,.0f}",
                hours(embedding_hours(passages, gpu_rate())),
            )
        )  # fmt: skip
    head = ("passages", "nodes = shards", "memory/node", "disk/node", "a question in a shard", "questions/s",
            "per node", "cores that ask", "embedding, 1 GPU")  # fmt: skip
    return table(head, rows)


def quantizations() -> str:
    """What quantization saves at a billion passages."""
    rows = []
    for kind in ("none", "scalar", "binary"):
        count = nodes(1e9, kind)
        rows.append(
            (
                kind, size(dense_memory(1e9, kind)), size(qdrant_memory(1e9, kind)), size(qdrant_disk(1e9, kind)),
                str(count), f"{questions_per_s(1e9, kind):,.0f}",
            )
        )  # fmt: skip
    head = ("quantization", "vectors in memory, a copy", "with terms", "disk, a copy", "nodes", "questions/s")
    return table(head, rows)


def loads(measured: dict[str, list[tuple[float, float, float]]]) -> str:
    """Latency by load."""
    rows = []
    for place in places():
        for load, (p50, p95, p99) in zip(LOADS, measured[place.name], strict=True):
            rows.append(
                (
                    place.name, f"{load:.0%}".replace("%", " %"), f"{place.rate(load):,.1f}",
                    *map(duration, (p50, p95, p99)),
                )
            )  # fmt: skip
    return table(("where", "cores busy", "questions/s", "p50", "p95", "p99"), rows)


# -- picture -------------------------------------------------------------------------------------------------------

_STYLE = """
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
    .title { font-size: 14px; font-weight: 600; } .paper { fill: #ffffff; } .grid { stroke: #d8dee4; stroke-width: 1; }
    .end { text-anchor: end; } .middle { text-anchor: middle; } path { fill: none; stroke-width: 2; }
    .a { stroke: #1a7f5a; } .b { stroke: #5b8fd6; } .c { stroke: #b35900; } .d { stroke: #8250df; }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .paper { fill: #0d1117; } .grid { stroke: #30363d; }
      .a { stroke: #3fb984; } .b { stroke: #79aef0; } .c { stroke: #f0883e; } .d { stroke: #bc8cff; } }
"""
_WIDTH, _HEIGHT, _LEFT, _TOP = 400, 250, 62, 54


def picture(measured: dict[str, list[tuple[float, float, float]]]) -> str:
    """Memory by passages, and p95 by load, as SVG."""
    memory = {
        "SQLite": [(passages, sqlite_memory(passages)) for passages in SIZES],
        "Qdrant, none": [(passages, qdrant_memory(passages, "none")) for passages in SIZES],
        "Qdrant, scalar": [(passages, qdrant_memory(passages, "scalar")) for passages in SIZES],
        "Qdrant, binary": [(passages, qdrant_memory(passages, "binary")) for passages in SIZES],
    }
    latency = {name: [(load, p95) for load, (_, p95, _) in zip(LOADS, found, strict=True)]
               for name, found in measured.items()}  # fmt: skip
    marks = {f"10^{power}": 10.0**power for power in range(4, 10)}
    shares = {f"{load:.0%}": load for load in LOADS}
    panels = [
        _panel("Memory of one copy", memory, marks, {size(10.0**n): 10.0**n for n in range(7, 13)}, math.log10),
        _panel("p95 by cores busy", latency, shares, {duration(n): n for n in (30, 100, 300, 1000)}, float),
    ]
    width, height = 2 * (_WIDTH + _LEFT) + 40, _HEIGHT + _TOP + 120
    placed = [
        f'<g transform="translate({column * (_WIDTH + _LEFT + 10) + 10} 10)">\n{panel}\n</g>'
        for column, panel in enumerate(panels)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="Memory by passages, and latency by load">\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>\n' + "\n".join(placed) + "\n</svg>\n"
    )


def _panel(
    title: str,
    lines: dict[str, list[tuple[float, float]]],
    across: dict[str, float],
    upwards: dict[str, float],
    scale: Callable[[float], float],
) -> str:
    """Lines over a grid; upwards the scale is logarithmic."""
    ends = scale(min(across.values())), scale(max(across.values()))
    points = [y for line in lines.values() for _, y in line]
    low = math.log10(min(*points, *upwards.values()))
    high = math.log10(max(*points, *upwards.values()))

    def place(x: float, y: float) -> tuple[float, float]:
        right = _LEFT + (scale(x) - ends[0]) / (ends[1] - ends[0]) * (_WIDTH - 20)
        return right, _TOP + _HEIGHT - (math.log10(y) - low) / (high - low) * _HEIGHT

    drawn = [f'<text class="title" x="{_LEFT}" y="24">{escape(title)}</text>']
    for label, y in upwards.items():
        top = place(min(across.values()), y)[1]
        drawn.append(f'<path class="grid" d="M{_LEFT} {top:.1f}H{_LEFT + _WIDTH - 20}"/>')
        drawn.append(f'<text class="end" x="{_LEFT - 8}" y="{top + 4:.1f}">{escape(label)}</text>')
    for label, x in across.items():
        right = place(x, 10**low)[0]
        drawn.append(f'<text class="middle" x="{right:.1f}" y="{_TOP + _HEIGHT + 18}">{escape(label)}</text>')
    for kind, (name, line), row in zip("abcd", lines.items(), range(4), strict=True):
        steps = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line)
        drawn.append(f'<path class="{kind}" d="M{steps}"/>')
        top = _TOP + _HEIGHT + 38 + 18 * row
        drawn.append(f'<path class="{kind}" d="M{_LEFT} {top}h24"/>')
        drawn.append(f'<text x="{_LEFT + 32}" y="{top + 4}">{escape(name)}</text>')
    return "\n".join(drawn)


# -- file ----------------------------------------------------------------------------------------------------------


def filled(document: str, parts: dict[str, str]) -> str:
    """The document with the parts between their marks: ``<!-- scale: NAME -->`` and ``<!-- end -->``."""
    for name, text in parts.items():
        head, mark, rest = document.partition(f"<!-- scale: {name} -->\n")
        if not mark:
            raise SystemExit(f"the document has no part '{name}'")
        document = head + mark + f"\n{text}\n\n" + rest[rest.index("<!-- end -->") :]
    return document


def parts() -> tuple[dict[str, str], str]:
    """The tables by name, and the picture."""
    measured = {place.name: [place.latencies(load) for load in LOADS] for place in places()}
    tables = {
        "one machine": one_machine(),
        "many machines": many_machines(),
        "quantization": quantizations(),
        "load": loads(measured),
        "constants": constants(),
    }
    return tables, picture(measured)


def main() -> None:
    """Write the tables and the picture into a folder of documents, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where scale.md is")
    options = parser.parse_args()
    tables, drawn = parts()
    if options.folder is None:
        print("\n\n".join(tables.values()))
        return
    file = options.folder / "scale.md"
    file.write_text(filled(file.read_text(encoding="utf-8"), tables), encoding="utf-8")
    (options.folder / "scale.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
