"""Secrets that only their place gives away: behind the name of a password or key, in a header, in a URL.

What stands there must look like a secret: not a reference (``os.environ[...]``, ``${TOKEN}``, ``config.secret``), not
a placeholder (``your-api-key``, ``changeme``, ``<token>``), not a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from .formats import Found

_ROOT: Final = re.compile(
    "passw|passphrase|pwd|_pass|-pass"
    "|secret|token|key|authorization|bearer|mot de passe|contraseña|パスワード|密码|密碼|비밀번호"
)
"""What every name holds, in lower case; without a group, which would make the search five times slower."""
_NAME: Final = re.compile(
    r"(?P<password>passw(?:or[dt]|d)|passphrase|pwd|pass(?![a-z])"
    r"|mot de passe|contraseña|パスワード|密码|密碼|비밀번호)[0-9]{0,2}"
    r"|(?P<header>authorization|bearer)"
    r"|(?:secret(?:[ _-]?access)?(?:[ _-]?key)?|token|key)[0-9]{0,2}"
)
_KINDS_OF_KEY: Final = (
    "api", "access", "auth", "private", "signing", "encryption", "master", "account", "storage", "shared", "service",
    "admin", "secret",
)  # fmt: skip
"""A key of another kind is a place in a table, or of a keyboard."""

_ASSIGNED: Final = re.compile(
    r"""(?P<flag>[ \t=]+)?"""
    r"""(?:[ \t]?:[ \t]?\w+(?:\[\w+\])?(?=[ \t]*=[ \t]*["']))?"""  # the type of a variable
    r"""[\\"'`*_]{0,4}[ \t]{0,8}(?P<sign>:=|=>|==?|:|：|\||>|は|is\b)[ \t]{0,8}\*{0,2}[ \t]?"""
    r"""(?:\\?(?P<quote>["'`])(?P<quoted>[^\s"'`\\]{5,300})\\?(?P=quote)|(?P<bare>[^\s"'`\\,;<>()\[\]{}|]{6,300}))"""
    r"""(?P<behind>[(\[{]?)"""
)
_FLAG: Final = re.compile(
    r"""[ \t=]+(?:(?P<quote>["'])(?P<quoted>[^\s"']{5,300})(?P=quote)|(?P<bare>[^\s"'`\\<>]{6,300}))"""
)
_HEADER: Final = re.compile(
    r"""(?:[\\"'`]{0,3}[ \t]*[:=,][ \t]*[\\"'`]{0,3}(?P<scheme>Bearer|Basic|Token|ApiKey))?"""
    r"""[ \t]+(?P<value>[\w.~+/=-]{8,})""",
    re.IGNORECASE | re.ASCII,
)
_URL: Final = re.compile(r"""://[^\s/?#:@"'<>`]{0,100}:(?P<value>[^\s/?#@"'<>`]{1,300})@[\w\[]""")

_COMMAND: Final = re.compile(
    r"""\b(?:curl|wget|https?)\b[^\n|;&]{0,300}?[ \t](?:-u|--user|--proxy-user)[ \t=]?"""
    r"""["']?[^\s:"']{1,64}:(?P<user>[^\s"']{3,200})"""
    r"""|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,300}?[ \t]-p"""
    r"""(?P<joined>[^\s"']{4,200}|"[^"\n]{3,200}"|'[^'\n]{3,200}')"""
    r"""|\bsshpass[ \t]+-p[ \t]*["']?(?P<ssh>[^\s"']{3,200})"""
    r"""|\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]+["']?(?P<redis>[^\s"']{3,200})"""
)
"""Passwords behind a flag that only their command gives a meaning."""
_COMMANDS: Final = ("curl", "wget", "http", "mysql", "mariadb", "sshpass", "redis-cli")

_FILLERS = """
    a an the my our your yours some any new old current this that is example sample test testing tester dummy fake mock
    place holder change me it insert replace with redacted hidden masked removed here todo foo bar baz qux password
    passwort passwd passphrase pass pwd pw secret token tok api access auth authorization bearer client private public
    key user username admin root login name value string text none null nil true false default empty type id of and or
    super very strong long real not no min max required optional abc abcdef abcdefghi x y z on off qwerty hello world
    letmein in to for env var app db database service account http https www com org
"""
_PLACEHOLDER: Final = re.compile(f"(?:{'|'.join(sorted(_FILLERS.split(), key=len, reverse=True))})*+")
"""Of the letters of a value, in lower case: made of such words alone it is no secret."""

_REFERENCE: Final = re.compile(
    r"[$<{%@#*]|~?\.{0,2}/|https?:|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|[A-Za-z]:\\|.*(?:\$\{|\{\{|%\(|\$\(|\.\.\.|…|\*\*\*)"
)
_LONGEST_NAME: Final = 64
LEAST_KEY: Final = 12
_EASY_SIGNS: Final = frozenset("-_./:,")


def by_place(text: str) -> Iterator[Found]:
    """Every secret that what stands around it gives away; they may overlap those known by form."""
    if "://" in text and "@" in text:
        for match in _URL.finditer(text):
            value = match["value"]
            if not _REFERENCE.match(value) and not (value.isalpha() and _is_placeholder(value)):
                yield (*match.span("value"), "url-password")
    if (" -" in text or "\t-" in text) and any(command in text for command in _COMMANDS):
        for match in _COMMAND.finditer(text):
            group = str(match.lastgroup)
            if not _REFERENCE.match(match[group]) and not _is_placeholder(match[group]):
                yield (*match.span(group), "password")
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two in lower case
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    for root in _ROOT.finditer(lower):
        name = _NAME.match(lower, root.start() + (root[0][0] in "_-"))
        if name is None or (root[0] == "key" and not _is_secret_key(lower, root.start())):
            continue
        if name["header"]:
            header = _HEADER.match(text, name.end())
            if header and (_is_issued if header["scheme"] else _is_key)(header["value"]):
                yield (*header.span("value"), "authorization")
            continue
        found = _assigned(text, lower, name)
        if found:
            yield (*found, "password" if name["password"] else "key")


def _assigned(text: str, lower: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Where the secret stands that is given to a name, or None."""
    end = name.end()
    before = _word_start(lower, name.start())
    if "public" in lower[before:end]:
        return None
    if lower.startswith("--", before):
        match = _FLAG.match(text, end)
    else:
        match = _ASSIGNED.match(text, end)
    if match is None:
        return None
    group = "quoted" if match["quoted"] else "bare"
    value, (start, stop) = match[group], match.span(group)
    if group == "bare":
        if before and text[before - 1] in "?&":
            value = value.partition("&")[0]  # of a URL
        value = value.rstrip(".,;:")
        stop = start + len(value)
    if _REFERENCE.match(value) or _is_placeholder(value):
        return None
    literal = group == "quoted" or text[before:end].isupper()  # NAME=value, as in the environment
    if name["password"]:
        real = _is_password(value) if literal else _is_mixed(value)
    else:
        real = _is_key(value)
    if group == "bare" and match.groupdict().get("behind"):
        return None  # a call, an index
    return (start, stop) if real else None


def _is_secret_key(lower: str, position: int) -> bool:
    return lower[max(position - 12, 0) : position].rstrip(" _-").endswith(_KINDS_OF_KEY)


def _word_start(text: str, position: int) -> int:
    first = max(position - _LONGEST_NAME, 0)
    while position > first and (text[position - 1].isalnum() or text[position - 1] in "_-"):
        position -= 1
    return position


def _is_placeholder(value: str) -> bool:
    letters = "".join([char for char in value.lower() if char.isalpha()])
    return _PLACEHOLDER.fullmatch(letters) is not None


def _is_password(value: str) -> bool:
    """A literal that somebody chose: letters with a digit or a sign among them."""
    if len(value) < 5 or "|" in value:
        return False
    return any(char.isalpha() for char in value) and any(
        char.isdigit() or not (char.isalnum() or char in _EASY_SIGNS) for char in value
    )


def _is_mixed(value: str) -> bool:
    """What nobody would call a variable: letters and at least two digits or signs, changing often."""
    if len(value) < 8 or not any(char.isalpha() for char in value):
        return False
    others = sum(char.isdigit() or not (char.isalnum() or char in _EASY_SIGNS) for char in value)
    return others >= 2 and _changes(value) >= 3


def _is_issued(value: str) -> bool:
    """What stands in a header where it belongs: not a word."""
    return not _is_placeholder(value) and any(char.isdigit() or char.isupper() for char in value[1:])


def _is_key(value: str) -> bool:
    """What a machine made: digits and letters changing often."""
    digits = sum(char.isdigit() for char in value)
    return len(value) >= LEAST_KEY and digits >= 2 and digits < len(value) and _changes(value) >= 3


def _changes(value: str) -> int:
    """How often letters, digits and signs follow each other."""
    kinds = [
        "a" if char.isalpha() else "0" if char.isdigit() else "-" if char in _EASY_SIGNS else "!" for char in value
    ]
    return sum(left != right and "-" not in (left, right) for left, right in pairwise(kinds))
