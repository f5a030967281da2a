"""Bytes and encodings: faults that users of such products met, as far as listing and reading go."""

import json
import os
import random
import subprocess
import sys

from second_brain.errors import ParseError
from second_brain.sources.markdown import MarkdownSource
from second_brain.sources.reading import BinaryFile


def test_en_1_one_file_with_a_bad_byte(tmp_path):
    """All 100 notes are listed and read; the bad byte is still text of some encoding and comes as it is."""
    for number in range(99):
        (tmp_path / f"{number:02}.md").write_text(f"note {number}")
    (tmp_path / "bad.md").write_bytes(b"tariff \x96 42\n")
    source = MarkdownSource("v", tmp_path)
    blobs = [source.read(item) for item in source.scan().items]
    assert len(blobs) == 100
    assert blobs[-1].data == b"tariff \x96 42\n"


def test_en_3_binary_files_with_the_name_of_a_note(tmp_path):
    """Random bytes and a picture are refused, one error each; what is not named like a note is not listed."""
    (tmp_path / "photo.md").write_bytes(random.Random(3).randbytes(300_000))
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x00IEND")
    (tmp_path / ".DS_Store").write_bytes(b"\x00\x00\x00\x01Bud1")
    (tmp_path / "n.md").write_text("a note")
    source = MarkdownSource("v", tmp_path)
    outcomes = {}
    for item in source.scan().items:
        try:
            outcomes[item.relative] = source.read(item).data
        except ParseError as error:
            outcomes[item.relative] = type(error)
    assert outcomes == {"n.md": b"a note", "photo.md": BinaryFile, "picture.md": BinaryFile}


def test_en_5_a_locale_without_utf8(tmp_path):
    """Uris, hashes and failures are the same under ``LC_ALL=C`` as under UTF-8."""
    vault = tmp_path / "保管庫"
    (vault / "会議").mkdir(parents=True)
    (vault / "会議" / "議事録.md").write_text("排水ポンプを交換した", encoding="utf-8")
    (vault / "か\u3099.md").write_text("濁点", encoding="utf-8")
    (vault / "除外.md").write_text("left out", encoding="utf-8")
    (vault / ".indexignore").write_text("除外.md\n", encoding="utf-8")
    program = (
        "import json, sys; from pathlib import Path\n"
        "from second_brain.sources.markdown import MarkdownSource\n"
        "source = MarkdownSource('v', Path(sys.argv[1])); scan = source.scan()\n"
        "print(json.dumps([[item.uri, source.read(item).hash] for item in scan.items]))"
    )
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    answers = []
    for locale in ({"PYTHONUTF8": "1"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        command = [sys.executable, "-c", program, str(vault)]
        done = subprocess.run(command, env={**plain, **locale}, capture_output=True, check=True)
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
    assert [uri for uri, _ in answers[0]] == ["v/が.md", "v/会議/議事録.md"]
