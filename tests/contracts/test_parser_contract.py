from __future__ import annotations

from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import ParserContract


class TestMarkdownParser(ParserContract):
    def parser(self) -> MarkdownParser:
        return MarkdownParser()

    def samples(self) -> list[bytes]:
        return [
            b"",
            b"\xef\xbb\xbf---\r\ntitle: Pump\r\n---\r\n# One\r\n\r\ntext [[Valve]]\r\n\r\n## Two\r\n- a\r\n- b\r\n",
            "---\ntags: [海]\nup: '[[目次]]'\n---\n前書き\n\n# 第一章\n\n本文 #会議 [図](図%201.png)\n".encode(),
            "\ufeffUTF-16 note\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".encode("utf-16-le"),
            b"[a]: /b\n\ncaf\xe9 \x00 > quote\n\n> [!note]\n> # inner\n\n```\n# no heading\n",
            b"---\nbroken: a: b\n---\n\n\n    indented\n\n***\n<div>\nhtml\n</div>\n[^1]: note\n",
        ]
