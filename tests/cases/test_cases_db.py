"""Group DB of the failure cases: locking, durability, damage and format of the index file."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import apsw
import pytest

from second_brain import Brain
from second_brain.errors import BrainError, DiskFull, IndexFormat
from second_brain.index.sqlite import connection, schema
from second_brain.index.sqlite.check import examine
from second_brain.index.sqlite.connection import Database, has_wal_reset_bug, sqlite_version, unsafe_for_wal

PRELUDE = """
import sys
from pathlib import Path
from second_brain import Brain
home, worker = Path(sys.argv[1]), int(sys.argv[2])
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the fast embedder and one source of three notes."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "models.yaml").write_text("embedder: hashing\n")
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in (
        ("pump", "The pump lost pressure at noon."),
        ("kelp", "Kelp dries in two days."),
        ("owl", "An owl nests above the shed."),
    ):
        (vault / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    with Brain.open(folder, environment={}) as brain:
        brain.add(vault, name="vault")
        brain.sync()
        brain.embed()
    return folder


def processes(script: str, home: Path, count: int) -> list[subprocess.Popen[str]]:
    code = PRELUDE + textwrap.dedent(script)
    return [
        subprocess.Popen(
            [sys.executable, "-c", code, str(home), str(worker)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for worker in range(count)
    ]


def outcomes(running: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    found = []
    for process in running:
        _, errors = process.communicate(timeout=120)
        found.append((process.returncode, errors))
    return found


def said_by_search(brain: Brain) -> str:
    """What a search tells: its error with the hint, or its notices and the titles that it found."""
    try:
        result = brain.search("pressure")
    except BrainError as error:
        return f"{error} {error.hint}"
    return " ".join((*result.notices, *(hit.title for hit in result.hits)))


def search(home: Path, text: str) -> list[str]:
    with Brain.open(home, environment={}) as brain:
        return [hit.title for hit in brain.search(text, mode="lexical").hits]


def test_db_1_eight_writers_and_a_slow_reader_lose_nothing(home: Path, tmp_path: Path) -> None:
    """Every note of every process is there, and no lock error reaches anybody."""
    captures = """
        for number in range(50):
            note = home.parent / "vault" / f"capture-{worker}-{number}.md"
            note.write_text(f"# capture {worker} {number}\\n\\nseen by worker {worker}\\n")
            if number % 10 == 9:
                with Brain.open(home, environment={}) as brain:
                    brain.sync([home.parent / "vault"])
    """
    reader = Database(home / "index.db")
    with reader.snapshot():
        reader.rows("SELECT count(*) FROM document")
        found = outcomes(processes(captures, home, 8))
    assert found == [(0, "")] * 8
    with Brain.open(home, environment={}) as brain:
        brain.sync()
        assert brain.status().documents == 3 + 8 * 50


def test_db_2_simultaneous_first_openers_all_succeed(tmp_path: Path) -> None:
    """Six processes create the same index in the same instant, several times."""
    script = """
        import time
        time.sleep(max(0.0, float((home / "start").read_text()) - time.time()))
        with Brain.open(home, environment={}) as brain:
            assert brain.index.stats().documents == 0
    """
    for round_ in range(4):
        home = tmp_path / f"home-{round_}"
        home.mkdir()
        (home / "start").write_text(str(time.time() + 1.0))
        assert outcomes(processes(script, home, 6)) == [(0, "")] * 6


def test_db_2_threads_that_open_at_once_all_succeed(tmp_path: Path) -> None:
    """Thirty rounds of six openers on a new file."""
    for round_ in range(30):
        path = tmp_path / f"{round_}.db"
        schema.create_private(path)
        failures: list[BaseException] = []
        barrier = threading.Barrier(6)

        def opener(
            path: Path = path, barrier: threading.Barrier = barrier, failed: list[BaseException] = failures
        ) -> None:
            try:
                barrier.wait()
                schema.prepare(database := Database(path))
                database.close()
            except BaseException as error:  # the test reports whatever it was
                failed.append(error)

        threads = [threading.Thread(target=opener) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_db_4_idle_readers_do_not_let_the_log_grow(home: Path) -> None:
    """Six open brains that have searched hold no old state: the log stays below its limit."""
    brains = [Brain.open(home, environment={}) for _ in range(6)]
    for brain in brains:
        assert brain.search("pump").hits
    database = Database(home / "index.db")
    database.rows("CREATE TABLE churn(data BLOB)")
    rng = random.Random(1)
    for _ in range(100):
        with database.transaction() as writer:
            writer.execute("INSERT INTO churn VALUES (?)", (rng.randbytes(3 << 20),))
            writer.execute("DELETE FROM churn WHERE rowid < (SELECT max(rowid) FROM churn)")
    log = home / "index.db-wal"
    assert log.stat().st_size < connection.WAL_LIMIT_BYTES
    for brain in brains:
        brain.close()


def test_db_5_a_lost_chunk_is_found_and_mended_from_the_file(home: Path) -> None:
    """The file's own check says ok; ours names the document, and the next index reads it again."""
    raw = apsw.Connection(str(home / "index.db"))
    raw.execute("DELETE FROM chunk WHERE key = (SELECT min(key) FROM chunk)")
    assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    raw.close()
    names = {finding.name: finding for finding in examine(home / "index.db")}
    assert names["chunks"].severity == names["terms"].severity == "error"
    with Brain.open(home, environment={}) as brain:
        brain.doctor(fix=True)
        brain.sync()
        assert [finding.name for finding in brain.doctor() if finding.severity == "error"] == []
        assert brain.status().documents == 3
    assert [search(home, word) for word in ("pressure", "kelp", "owl")] == [["pump"], ["kelp"], ["owl"]]


@pytest.mark.parametrize("table", ["terms_data", "terms_docsize", "terms", "vector", "chunk"])
def test_db_7_a_missing_table_is_never_zero_results_and_all_fine(home: Path, table: str) -> None:
    """A search says that something is missing, or answers with what is left and says so; doctor mends it."""
    raw = apsw.Connection(str(home / "index.db"))
    raw.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    raw.execute("PRAGMA writable_schema=ON")
    raw.execute("DELETE FROM sqlite_schema WHERE name = ? OR tbl_name = ?", (table, table))
    raw.execute("PRAGMA writable_schema=OFF")
    raw.close()
    with Brain.open(home, environment={}) as brain:
        assert "doctor" in said_by_search(brain) or "vector" in said_by_search(brain)
        findings = brain.doctor()
        assert any(finding.severity == "error" for finding in findings)
        brain.doctor(fix=True)
        brain.sync(prune=True)
        brain.embed()
        assert [finding.message for finding in brain.doctor() if finding.severity == "error"] == []
    assert search(home, "pressure") == ["pump"]


@pytest.mark.parametrize("place", ["middle", "head", "all"])
def test_db_8_a_damaged_file_is_kept_aside_and_made_anew(home: Path, place: str) -> None:
    """What is wrong and which command mends it is said; the damaged file is kept; no note is lost."""
    file = home / "index.db"
    with Brain.open(home, environment={}) as brain:
        brain.compact()
    data = bytearray(file.read_bytes())
    start = {"middle": len(data) // 2 // 4096 * 4096, "head": 0, "all": 0}[place]
    length = len(data) if place == "all" else 8192
    data[start : start + length] = random.Random(3).randbytes(len(data[start : start + length]))
    file.write_bytes(data)
    with Brain.open(home, environment={}) as brain:
        findings = brain.doctor()
        assert [finding for finding in findings if finding.severity == "error"]
        assert said_by_search(brain)
        if place != "middle":
            with pytest.raises(BrainError, match=r"index\.db"):
                brain.status()
    if place == "middle":
        with Brain.open(home, environment={}) as brain:
            brain.doctor(fix=True)
            assert list(home.glob("index.db.damaged-*"))
    else:
        file.rename(home / "moved-away.db")
    with Brain.open(home, environment={}) as brain:
        brain.sync()
        brain.embed()
        assert brain.search("pressure").hits[0].title == "pump"


def test_db_10_places_where_locks_cannot_be_trusted_are_named() -> None:
    """Network file systems and synchronized folders are told apart from local disks."""
    assert "network" in unsafe_for_wal(Path("/mnt/nas/index.db"), "nfs4")
    assert "network" in unsafe_for_wal(Path("/mnt/c/index.db"), "fuse.rclone")
    assert "synchronized" in unsafe_for_wal(Path("/home/mika/Dropbox/index.db"), "ext4")
    assert "synchronized" in unsafe_for_wal(Path("/Users/mika/Library/Mobile Documents/x/index.db"), "apfs")
    assert unsafe_for_wal(Path("/home/mika/index.db"), "ext4") == ""


def test_db_10_a_synchronized_folder_gets_the_rollback_journal_and_works(tmp_path: Path) -> None:
    """The index works without shared memory there, and doctor says what is better."""
    home = tmp_path / "Dropbox" / "home"
    home.mkdir(parents=True)
    (home / "models.yaml").write_text("embedder: hashing\n")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "n.md").write_text("heron at the weir\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(vault)
        brain.sync()
        assert brain.index.database.value("PRAGMA journal_mode") == "delete"
        assert brain.search("heron", mode="lexical").hits
        assert any(finding.name == "place" and "BRAIN_INDEX" in finding.remedy for finding in brain.doctor())


def test_db_10_the_file_system_is_read_from_the_mount_table(tmp_path: Path) -> None:
    """The longest mount point that holds the path counts."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nnas:/x {tmp_path} nfs4 rw 0 0\n")
    assert connection.file_system_of(tmp_path / "index.db", mounts) == "nfs4"
    assert connection.file_system_of(Path("/usr/index.db"), mounts) == "ext4"


def test_db_11_a_full_disk_stops_plainly_and_the_next_run_completes(home: Path) -> None:
    """Old data stays searchable, no document is half there, and more room is all that is needed."""
    for number in range(200):
        (home.parent / "vault" / f"big-{number}.md").write_text(f"# big {number}\n\n" + f"word{number} lorem " * 300)
    with Brain.open(home, environment={}) as brain:
        pages = brain.index.database.value("PRAGMA page_count")
        brain.index.database.value(f"PRAGMA max_page_count={pages + 40}")
        with pytest.raises(DiskFull, match="no room") as caught:
            brain.sync()
        assert "nothing that was indexed is lost" in caught.value.hint
        assert brain.search("pressure", mode="lexical").hits[0].title == "pump"
        halves = brain.index.database.value(
            "SELECT count(*) FROM document d WHERE chunks != (SELECT count(*) FROM chunk WHERE document = d.key)"
        )
        assert halves == 0
        brain.index.database.value("PRAGMA max_page_count=1073741823")
        report = brain.sync()
        assert report.sources[0].added + report.sources[0].unchanged == 203
        assert brain.search("word150", mode="lexical").hits[0].title == "big 150"


def test_db_13_dense_search_loads_no_extension(home: Path) -> None:
    """Vectors are searched with extension loading off, as many Pythons are built."""
    raw = apsw.Connection(":memory:")
    with pytest.raises(apsw.Error):
        raw.load_extension("vec0")
    with Brain.open(home, environment={}) as brain:
        assert brain.search("pump pressure", mode="dense").mode == "dense"
        with pytest.raises(apsw.Error):
            brain.index.database.connection.load_extension("vec0")


def test_db_14_the_version_with_the_wal_reset_bug_is_known(home: Path) -> None:
    """The bug is in 3.7.0 to 3.51.2; the SQLite that runs here is newer, and doctor shows it."""
    assert [has_wal_reset_bug(version) for version in ("3.6.23", "3.7.0", "3.40.1", "3.51.2", "3.51.3")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not has_wal_reset_bug(sqlite_version())
    assert any(sqlite_version() in finding.message for finding in examine(home / "index.db"))


def test_a_file_of_a_newer_format_is_refused_untouched(home: Path) -> None:
    """An older program never writes into what it does not know."""
    raw = apsw.Connection(str(home / "index.db"))
    raw.execute("PRAGMA user_version=99")
    raw.close()
    before = (home / "index.db").read_bytes()
    with Brain.open(home, environment={}) as brain, pytest.raises(IndexFormat, match="format 99"):
        brain.search("pump")
    assert (home / "index.db").read_bytes() == before


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    """A mistyped $BRAIN_INDEX does not turn somebody's database into an index."""
    other = tmp_path / "other.db"
    raw = apsw.Connection(str(other))
    raw.execute("CREATE TABLE recipes(name); INSERT INTO recipes VALUES ('soup')")
    raw.close()
    with Brain.open(tmp_path / "home", index=other, environment={}) as brain, pytest.raises(IndexFormat):
        brain.status()
    raw = apsw.Connection(str(other))
    assert raw.execute("SELECT * FROM recipes").fetchall() == [("soup",)]
    assert raw.execute("SELECT name FROM sqlite_schema").fetchall() == [("recipes",)]


def test_the_index_is_private_to_its_owner(home: Path) -> None:
    """It holds the text of every note."""
    assert (home / "index.db").stat().st_mode & 0o077 == 0


def test_killed_in_mid_index_the_next_run_ends_in_the_right_state(home: Path) -> None:
    """Whatever the moment of the kill, the result is that of an undisturbed run."""
    for number in range(1500):
        (home.parent / "vault" / f"n-{number}.md").write_text(
            f"# n {number}\n\nlink [[n-{number + 1}]] gannet{number}\n"
        )
    script = """
        with Brain.open(home, environment={}) as brain:
            print("go", flush=True)
            brain.sync()
    """
    for delay in (0.15, 0.4, 0.7):
        (victim,) = processes(script, home, 1)
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(delay)
        victim.kill()
        victim.communicate()
    with Brain.open(home, environment={}) as brain:
        brain.sync()
        status = brain.status()
        assert (status.documents, status.links, status.unresolved_links) == (1503, 1500, 1)
        assert [finding.message for finding in brain.doctor() if finding.severity == "error"] == []
        assert brain.search("gannet1499", mode="lexical").hits[0].title == "n 1499"
    assert (home / "index.db").exists()


def test_a_busy_index_is_not_taken_for_a_damaged_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process writes, doctor says that it is busy; nothing is set aside."""
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_S", 0.2)
    writer = apsw.Connection(str(home / "index.db"))
    writer.execute("BEGIN IMMEDIATE")
    with Brain.open(home, environment={}) as brain:
        findings = brain.doctor(fix=True)
    writer.execute("ROLLBACK")
    assert [finding.fixable for finding in findings if finding.severity == "error"] == [False]
    assert list(home.glob("index.db.damaged-*")) == []
    assert search(home, "pressure") == ["pump"]


def test_vectors_around_a_damaged_page_are_carried_over(home: Path) -> None:
    """Only what stood on the damaged page is embedded again."""
    for number in range(600):
        (home.parent / "vault" / f"n-{number}.md").write_text(f"# n {number}\n\ngannet {number} over the weir\n")
    with Brain.open(home, environment={}) as brain:
        brain.sync()
        total = brain.embed().embedded
        brain.compact()
    file = home / "index.db"
    raw = apsw.Connection(str(file))
    size = raw.execute("PRAGMA page_size").fetchall()[0][0]
    pages = raw.execute(
        "SELECT pageno FROM dbstat WHERE name = 'vector' AND pagetype = 'leaf' ORDER BY path"
    ).fetchall()
    raw.close()
    assert len(pages) > 5
    data = bytearray(file.read_bytes())
    start = (pages[len(pages) // 2][0] - 1) * size
    data[start : start + size] = b"\xff" * size
    file.write_bytes(data)
    with Brain.open(home, environment={}) as brain:
        brain.doctor(fix=True)
        assert list(home.glob("index.db.damaged-*"))
        brain.sync()
        assert 0 < brain.embed().embedded < total / 5
        assert brain.search("gannet 599", mode="lexical").hits[0].title == "n 599"


def test_an_index_that_cannot_be_written_can_be_searched(home: Path, tmp_path: Path) -> None:
    """A read-only mount answers; indexing into it says why it cannot."""
    with Brain.open(home, environment={}) as brain:
        brain.compact()
    place = tmp_path / "mounted"
    place.mkdir()
    bound = subprocess.run(["mount", "--bind", home, place], check=False, capture_output=True)
    if bound.returncode:
        pytest.skip("mounting needs privileges")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        with Brain.open(place, environment={}) as brain:
            assert brain.search("pressure").hits[0].title == "pump"
            with pytest.raises(BrainError, match="cannot be"):
                brain.sync()
    finally:
        subprocess.run(["umount", place], check=True)
