"""Secrets that are known by their form: most services give their keys a beginning of their own.

Forms and beginnings are those of the rules of gitleaks (github.com/gitleaks/gitleaks, MIT licence, copyright 2019
Zachary Rice), which are kept up with what the services publish; they are written anew for a search by beginnings.
Where gitleaks wants an exact length, what is longer is taken too: services lengthen their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

Found: TypeAlias = "tuple[int, int, str]"
"""Start and end of a secret, and the rule that found it."""

_WORD = "[A-Za-z0-9_-]"
_LETTERS = "[A-Za-z0-9]"
_HEX = "[a-f0-9]"

_FORMS: Final = (
    # rule, beginning, what follows
    ("anthropic", "sk-ant-", f"{_WORD}{{20,}}"),
    ("openai", "sk-(?:proj|svcacct|admin|None|or-v1|lf)-", f"{_WORD}{{20,}}"),
    ("openai", "sk-", f"{_LETTERS}{{32,}}"),
    ("github", "gh[pousr]_", f"{_LETTERS}{{36,}}"),
    ("github", "github_pat_", r"\w{22,}"),
    ("gitlab", "gl(?:pat|dt|rt|rtr|ptt|cbt|ft|ffct|imt|soat|agent|oas)-", r"[\w.-]{20,}"),
    ("gitlab", "GR1348941", f"{_WORD}{{20,}}"),
    ("aws", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]{16}"),
    ("aws", "ABSK", "[A-Za-z0-9+/]{109,}={0,2}"),
    ("slack", "xox[abeoprs]-", f"{_WORD}{{13,}}"),
    ("slack", r"xapp-\d-", f"{_WORD}{{20,}}"),
    ("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/", "[A-Za-z0-9+/]{30,}"),
    ("stripe", "[sr]k_(?:test|live|prod)_", f"{_LETTERS}{{10,}}"),
    ("stripe", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    ("google", "AIza", f"{_WORD}{{35,}}"),
    ("google", "GOCSPX-", f"{_WORD}{{28}}"),
    ("google", r"ya29\.", r"[\w.-]{20,}"),
    ("azure", "(?:AccountKey|SharedAccessKey)=", "[A-Za-z0-9+/]{40,}={0,2}"),
    ("npm", "npm_", f"{_LETTERS}{{36}}"),
    ("pypi", "pypi-AgE", f"{_WORD}{{50,}}"),
    ("rubygems", "rubygems_", f"{_HEX}{{48}}"),
    ("docker", "dckr_(?:pat|oat)_", f"{_WORD}{{27,}}"),
    ("huggingface", "(?:hf_|api_org_)", f"{_LETTERS}{{34}}"),
    ("replicate", "r8_", f"{_LETTERS}{{37}}"),
    ("groq", "gsk_", f"{_LETTERS}{{40,}}"),
    ("xai", "xai-", f"{_LETTERS}{{60,}}"),
    ("perplexity", "pplx-", f"{_LETTERS}{{40,}}"),
    ("databricks", "dapi", f"{_HEX}{{32}}"),
    ("digitalocean", "do[opr]_v1_", f"{_HEX}{{64}}"),
    ("supabase", "sb(?:p_|_secret_)", f"{_WORD}{{30,}}"),
    ("hashicorp", r"hv[sb]\.", f"{_WORD}{{24,}}"),
    ("sendgrid", r"SG\.", r"[\w-]{22}\.[\w-]{43}"),
    ("mailgun", "key-", f"{_HEX}{{32}}"),
    ("twilio", "SK", f"{_HEX}{{32}}"),
    ("shopify", "shp(?:at|ca|pa|ss)_", "[a-fA-F0-9]{32}"),
    ("square", "sq0(?:atp|csp)-", f"{_WORD}{{22,}}"),
    ("grafana", "gl(?:sa|c)_", r"[\w+/=]{32,}"),
    ("sentry", "sntr(?:yu|ys)_", r"[\w+/=]{40,}"),
    ("newrelic", "NRAK-", f"{_LETTERS}{{27}}"),
    ("postman", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("linear", "lin_(?:api|oauth)_", f"{_LETTERS}{{40,}}"),
    ("notion", "ntn_", f"{_LETTERS}{{40,}}"),
    ("atlassian", "ATATT3", r"[\w=-]{60,}"),
    ("doppler", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[\w.-]{40,}"),
    ("pulumi", "pul-", f"{_HEX}{{40}}"),
    ("planetscale", "pscale_(?:tkn|oauth|pw)_", r"[\w=.-]{32,}"),
    ("tailscale", "tskey-(?:auth|api|client|scim|webhook)-", f"{_WORD}{{20,}}"),
    ("flyio", r"fm[12][ar]?_", "[A-Za-z0-9+/]{100,}={0,3}"),
    ("1password", "ops_eyJ", "[A-Za-z0-9+/]{200,}={0,3}"),
    ("age", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    ("jwt", "eyJ", r"[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
)

_RARE: Final = (
    # rule, what every one of them holds, form; without a beginning that is fixed
    ("azure", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}"),
    ("hashicorp", ".atlasv1.", rf"{_LETTERS}{{14}}\.atlasv1\.{_WORD}{{60,}}"),
    ("telegram", ":AA", rf"\d{{8,10}}:AA{_WORD}{{33}}"),
)
_RARE_PATTERNS: Final = tuple((rule, part, re.compile(rf"(?<!\w){form}(?!\w)", re.ASCII)) for rule, part, form in _RARE)

_BEGINNING: Final = re.compile("|".join(dict.fromkeys(begin for _, begin, _ in _FORMS)), re.ASCII)
"""Without a group, which would make the search twenty times slower."""
_ANY: Final = re.compile("|".join(f"({begin}{rest}(?![A-Za-z0-9]))" for _, begin, rest in _FORMS), re.ASCII)
_SHORTEST: Final = 18
"""No form is shorter, so that shorter words need not be looked at: that makes the search several times faster."""

_BETWEEN = "\t\n\r >|\"',"
_GAP = r"(?:\s|\\[nr]|[>|\"',])"
"""Between the lines of a key: line ends, also as JSON writes them, and the marks of a quote or of a string."""
_HEADERS = rf"(?:{_GAP}*[A-Z][A-Za-z-]+: [^\n\\]{{1,100}}){{0,4}}"
_BEGIN_KEY: Final = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_WHOLE_KEY: Final = re.compile(rf"(?P<body>{_HEADERS}(?:{_GAP}+=?[A-Za-z0-9+/]+={{0,2}})+){_GAP}*-----END")
_CUT_KEY: Final = re.compile(rf"(?P<body>{_HEADERS}(?:{_GAP}+[A-Za-z0-9+/]{{16,}}={{0,2}})+)")
_LONG_LINE: Final = re.compile("[A-Za-z0-9+/]{16}")
"""The lines of a key; one that was cut off has long lines only. The words of somebody who describes one are neither."""


def by_form(text: str) -> Iterator[Found]:
    """Every secret that its own form gives away; they may overlap."""
    if "PRIVATE KEY" in text:
        for begin in _BEGIN_KEY.finditer(text):
            match = _WHOLE_KEY.match(text, begin.end()) or _CUT_KEY.match(text, begin.end())
            if match and _LONG_LINE.search(match["body"]):
                end = match.end("body")
                yield end - len(match["body"].lstrip(_BETWEEN)), end, "private-key"
    for rule, part, pattern in _RARE_PATTERNS:
        if part in text:
            yield from ((*match.span(), rule) for match in pattern.finditer(text))
    if next(_known("\n".join([word for word in text.split() if len(word) >= _SHORTEST])), None):
        yield from _known(text)


def _known(text: str) -> Iterator[Found]:
    """What has one of the beginnings, where a word can begin: not ``task-...`` for ``sk-...``."""
    for beginning in _BEGINNING.finditer(text):
        start = beginning.start()
        if start and text[start - 1].isascii() and text[start - 1].isalnum():
            continue
        if match := _ANY.match(text, start):
            yield start, match.end(), _FORMS[(match.lastindex or 1) - 1][0]
