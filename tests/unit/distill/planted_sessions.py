"""Makes sessions with known facts in them: a decision, an error and what mended it, a command, a file, among much else.

What is planted is said in many ways, in English and Japanese, by either side, in the middle of other talk; the ways are
written after how people and agents talk in such sessions, not after what a summarizer looks for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime

from second_brain.types import Block, Document, Section


@dataclass(frozen=True, slots=True)
class Fact:
    """What a summary should hold: ``needles`` are the words that must all be in it."""

    kind: str
    needles: tuple[str, ...]


THINGS = ("sensor log", "pump schedule", "invoice export", "photo index", "tide table", "seed catalogue", "login page")
THINGS_JA = ("温度ログ", "ポンプの予定表", "請求書の出力", "写真の索引", "潮見表", "種子の目録", "ログイン画面")

DECISIONS = (
    "OK, {new} it is, and {old} goes.",
    "Let's use {new} for the {thing}, not {old}.",
    "I decided to keep {new}; {old} was too slow for us.",
    "We'll go with {new} instead of {old}.",
    "Please switch to {new}. I don't want {old} in this project any more.",
    "After comparing both, I recommend {new} over {old}, and I have written it that way.",
    "From now on the {thing} is stored in {new}, never in {old}.",
    "I'd rather have {new} than {old} here.",
)
DECISIONS_JA = (
    "{thing}は{new}にしましょう。{old}はやめます。",
    "{old}ではなく{new}を採用することに決めました。",
    "方針として、{thing}には{new}を使うことにします。{old}は使いません。",
    "結論: {new}でいきます。{old}は遅すぎました。",
)
ERRORS = (
    (
        "ValueError: time data '{x}' does not match format",
        "The cause was the {y} in the timestamps; I now strip it before parsing.",
    ),
    ("sqlite3.OperationalError: database is locked by {x}", "Setting {y} on every connection fixed it."),
    ("error[E0502]: cannot borrow `{x}` as mutable", "I cloned {y} first, and it compiles."),
    ("ModuleNotFoundError: No module named '{x}'", "It turns out {y} was missing from the lock file. I added it."),
    (
        "FAILED tests/test_{x}.py::test_round - AssertionError",
        "The rounding in {y} went the wrong way; tests pass now.",
    ),
    (
        "fatal: unable to access '{x}': Connection refused",
        "The proxy variable {y} pointed at the old host. Removing it solved this.",
    ),
    (
        "TypeError: Cannot read properties of undefined (reading '{x}')",
        "{y} ran before the data had arrived, so I wait for it now.",
    ),
)
ERRORS_JA = (
    (
        "UnicodeDecodeError: 'utf-8' codec can't decode {x}",
        "原因は{y}がShift_JISで保存されていたことでした。変換して直りました。",
    ),
    ("PermissionError: [Errno 13] {x}", "{y}の所有者を直したところ、解決しました。"),
    ("TimeoutError: {x}", "{y}のせいで待ち時間が足りませんでした。30秒に修正しました。"),
)
HELD_DECISIONS = (
    "Fine, {new} then. Drop {old}.",
    "Could you replace {old} with {new} everywhere? That is final.",
    "We stay with {new}; {old} brings us nothing.",
    "My recommendation is {new}: simpler to run than {old}.",
    "No {old} in this repository, please. Use {new}.",
    "So the {thing} moves to {new} and {old} is retired.",
    "I chose {new} because {old} cannot be tested offline.",
    "The {thing} will live in {new}, and we stop writing {old}.",
)
HELD_DECISIONS_JA = (
    "{thing}の保存先は{new}とし、{old}は廃止します。",
    "{old}から{new}に切り替えてください。これで確定です。",
    "{new}のほうが単純なので、{old}より{new}を選びました。",
)
HELD_ERRORS = (
    ("KeyError: '{x}'", "The mapping lacked an entry for {y}. After adding it the run goes through."),
    ("npm ERR! missing script: {x}", "{y} had been renamed in package.json, so I updated the call and it runs again."),
    ("panic: runtime error: index out of range [{x}]", "The loop read one past {y}. Corrected, and the test is green."),
    (
        "HTTPError: 403 Client Error: Forbidden for url {x}",
        "The token had no scope for {y}; with the right scope the request succeeds.",
    ),
    (
        "OSError: [Errno 28] No space left on device: '{x}'",
        "I deleted the old images under {y} and the build finished.",
    ),
)
HELD_ERRORS_JA = (
    ("FileNotFoundError: {x}", "{y}のパスが相対パスだったので、絶対パスに変えたら動きました。"),
    ("AssertionError: {x}", "{y}の丸め方が違っていました。四捨五入にしてテストが緑になりました。"),
)
TALK = (
    "Let me look at the files first.", "I'll read the module and the tests around it.", "Here is what I found so far.",
    "The function walks the list and builds a dictionary.", "There are three callers of this.", "Done.", "Sure.",
    "The layout of the folder looks reasonable.", "I will run the formatter at the end.", "Next, the documentation.",
    "This part reads the settings and passes them on to the writer, which formats each row.",
    "Could you show me the diff?", "Thanks, that looks fine.", "Can you explain how the loop ends?",
)  # fmt: skip
TALK_JA = (
    "まずファイルを読みます。", "関連するテストを確認します。", "ここまでの内容をまとめます。", "了解しました。",
    "この関数は一覧をたどって辞書を作ります。", "呼び出し元は三つあります。", "差分を見せてください。",
    "ありがとうございます。", "設定を読み、行ごとに書式を整える部分です。",
)  # fmt: skip
COMMANDS = (
    "pytest -q tests/{a}",
    "make {a}-{b}",
    "cargo test {a}",
    "npm run {a}:{b}",
    "docker compose up {a}",
    "alembic upgrade {a}",
)
NOISE = ("ls", "git status", "git diff", "cat README.md", "pwd")
WORDS = (
    "kestrel", "heron", "plover", "bittern", "egret", "osprey", "siskin", "dunlin", "curlew", "wagtail", "petrel",
    "gannet", "avocet", "linnet", "redwing", "whimbrel", "dotterel", "turnstone", "goldcrest", "nuthatch",
)  # fmt: skip


def session(seed: int, *, exchanges: int = 24, held: bool = False) -> tuple[Document, list[Fact]]:
    """A session of so many exchanges and what is planted in it: two decisions, two errors, two commands, two files.

    With ``held`` the facts are said in ways that were not looked at while the summarizer was written.
    """
    decisions, errors = (HELD_DECISIONS, HELD_ERRORS) if held else (DECISIONS, ERRORS)
    decisions_ja, errors_ja = (HELD_DECISIONS_JA, HELD_ERRORS_JA) if held else (DECISIONS_JA, ERRORS_JA)
    chance = random.Random(seed)
    japanese = seed % 3 == 2
    talk = TALK_JA if japanese else TALK
    facts: list[Fact] = []
    planted: dict[int, list[tuple[str, str]]] = {}

    def word() -> str:
        return f"{chance.choice(WORDS)}{chance.randrange(10, 99)}"

    def plant(kind: str, blocks: list[tuple[str, str]], *needles: str) -> None:
        planted.setdefault(chance.randrange(1, exchanges), []).extend(blocks)
        facts.append(Fact(kind, needles))

    for _ in range(2):
        new, old = word(), word()
        thing = chance.choice(THINGS_JA if japanese else THINGS)
        said = chance.choice(decisions_ja if japanese else decisions).format(new=new, old=old, thing=thing)
        around = [chance.choice(talk), said, chance.choice(talk)]
        plant("decision", [(chance.choice(("user", "assistant")), " ".join(around))], new, old)
        x, y = word(), word()
        error, remedy = chance.choice(errors_ja if japanese and chance.random() < 0.8 else errors)
        trace = (
            'Traceback (most recent call last):\n  File "app.py", line 7, in main\n' if chance.random() < 0.5 else ""
        )
        plant(
            "error",
            [
                ("command", f"$ {chance.choice(NOISE)}"),
                ("error", trace + error.format(x=x)),
                ("assistant", chance.choice(talk)),
                ("edit", f"edit src/{chance.choice(WORDS)}.py"),
                ("assistant", f"{chance.choice(talk)} {remedy.format(y=y)} {chance.choice(talk)}"),
            ],
            x,
            y,
        )
        command = chance.choice(COMMANDS).format(a=word(), b=word())
        plant("command", [("command", f"$ {command}")] * chance.randrange(1, 4), command)
        file = f"src/{word()}/{word()}.py"
        plant("file", [("edit", f"edit {file}")] * chance.randrange(1, 4), file)

    text, sections, blocks = "", [], []
    for number in range(1, exchanges + 1):
        start = len(text)
        question = " ".join(chance.sample(talk, 2)) if number > 1 else f"Please look at the {chance.choice(THINGS)}."
        heading = f"## {number} · 2031-05-01 09:{number:02d} · {question[:80]}"
        pieces = [("heading", heading), ("user", question)]
        pieces += [("assistant", " ".join(chance.choices(talk, k=chance.randrange(1, 6))))]
        pieces += [("command", f"$ {chance.choice(NOISE)}") for _ in range(chance.randrange(3))]
        pieces += [("edit", f"edit docs/{chance.choice(WORDS)}.md")] if chance.random() < 0.2 else []
        pieces += planted.get(number, [])
        pieces += [("assistant", " ".join(chance.choices(talk, k=chance.randrange(1, 8))))]
        for kind, piece in pieces:
            blocks.append(Block(kind, len(text), len(text) + len(piece)))
            text += piece + "\n\n"
        sections.append(Section(2, (heading.removeprefix("## "),), start, len(text)))
    when = datetime(2031, 5, 1, 9, tzinfo=UTC)
    document = Document(
        uri=f"agent/p/{seed:08x}-aaaa.jsonl",
        source="agent",
        kind="session",
        type="session",
        title=f"Session {seed}",
        text=text,
        modified=when,
        date=when,
        sections=tuple(sections),
        blocks=tuple(blocks),
        project="pump",
        metadata={
            "session": f"{seed:08x}-aaaa",
            "agent": "claude-code",
            "branch": "main",
            "ended": "2031-05-01T10:00:00Z",
        },
    )
    return document, facts
