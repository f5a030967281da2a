"""Keys, tokens and passwords are found by form and by place; what only looks alike stays."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from second_brain.secrets import redact, redacted
from second_brain.secrets.redaction import mask
from second_brain.types import Document, Link, Section

NOW = datetime(2031, 5, 2, tzinfo=UTC)
HEX = "9f8a7d6e5c4b3a2f1e0d9c8b7a6f5e4d"
LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5kM7n"
UPPER = "K7QX2M9ZP4TR8WN3"

KEYS = {
    "github": ["ghp_" + LETTERS[:36], "ghs_" + "a" * 36, "github_pat_" + LETTERS + "_" + LETTERS],
    "aws": ["AKIA" + UPPER, "ASIA" + UPPER],
    "openai": ["sk-" + LETTERS, "sk-proj-" + LETTERS[:20] + "-_" + LETTERS],
    "anthropic": ["sk-ant-api03-" + LETTERS + "-" + LETTERS + "AA"],
    "gitlab": ["glpat-" + LETTERS[:20]],
    "slack": [
        "xoxb-" + "123456789012-123456789012-" + LETTERS[:24],
        "https://hooks.slack.com/services/T0000/B0000/" + LETTERS,
    ],
    "stripe": ["sk_live_" + LETTERS[:24], "rk_test_" + LETTERS[:24]],
    "google": ["AIza" + LETTERS[:35], "GOCSPX-" + LETTERS[:28]],
    "azure": ["AccountKey=" + LETTERS + LETTERS + "abcdef==", "abc8Q~" + LETTERS[:34]],
    "npm": ["npm_" + LETTERS[:36]],
    "huggingface": ["hf_" + LETTERS[:34]],
    "telegram": ["123456789:AA" + LETTERS[:33]],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9." + LETTERS],
    "sendgrid": ["SG." + LETTERS[:22] + "." + LETTERS[:40] + "xyz"],
}


@pytest.mark.parametrize(("rule", "key"), [(rule, key) for rule, keys in KEYS.items() for key in keys])
def test_a_key_is_masked_wherever_it_stands(rule: str, key: str) -> None:
    """At the end, in a sentence, in quotes, in JSON, in a URL; the words around it stay, and so does the length."""
    for around in ("{}", "it is {}, says he", 'x = "{}"', '{{\\"a\\": \\"{}\\"}}', "({})", "`{}`\n", "日本語{}です"):
        text = around.format(key)
        masked, counts = redact(text)
        assert len(masked) == len(text)
        assert dict(counts) == {rule: 1}
        secret = key.removeprefix("https://")
        assert secret not in masked
        before, after = around.replace("{{", "{").replace("}}", "}").split("{}")
        assert masked.startswith(before)
        assert masked.endswith(after)


PRIVATE_KEY = "\n".join(["MIIEpAIBAAKCAQEA" + LETTERS + "abcdefgh", LETTERS + "/+abcdefghijklmnopqr", "Zm9vYmFy=="])


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_the_lines_of_a_private_key_are_masked(kind: str) -> None:
    """Whole, cut off, quoted, indented, as JSON; its first and last line and the text behind it stay."""
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n"
    for text in (
        f"{begin}\n{PRIVATE_KEY}\n{end}\nbehind",
        f"{begin}\n{head}{PRIVATE_KEY}\n{end}\nbehind",
        "key: |\n  " + f"{begin}\n{PRIVATE_KEY}\n{end}".replace("\n", "\n  ") + "\nbehind",
        "> " + f"{begin}\n{PRIVATE_KEY}\n{end}".replace("\n", "\n> ") + "\nbehind",
        '"' + f"{begin}\n{PRIVATE_KEY}\n{end}".replace("\n", "\\n") + '" behind',
        f"{begin}\n{PRIVATE_KEY[:90]}\nbehind",
    ):
        masked, counts = redact(text)
        assert dict(counts) == {"private-key": 1}
        assert len(masked) == len(text)
        assert masked.count("\n") == text.count("\n")
        assert begin in masked
        assert masked.endswith("behind")
        assert not any(part in masked for part in (LETTERS[:20], "MIIEp", "Zm9vYmFy"))


def test_who_only_speaks_of_private_keys_is_not_masked() -> None:
    """The line that begins one, in prose and in code."""
    for text in (
        "it begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----",
        'BEGIN = b"-----BEGIN OPENSSH PRIVATE KEY-----"\nEND = b"-----END OPENSSH PRIVATE KEY-----"\n',
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + PRIVATE_KEY + "\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + PRIVATE_KEY + "\n-----END CERTIFICATE-----",
    ):
        assert redact(text) == (text, {})


PLACED = [
    ('password = "{}"', "hunter2", "password"),
    ("password: '{}'", "Tr0ub4dor&3", "password"),
    ('{{"password": "{}"}}', "heron-77!", "password"),
    ('{{\\"db_password\\": \\"{}\\"}}', "heron77", "password"),
    ("DB_PASSWORD={}", "heron77", "password"),
    ("export PGPASSWORD={}\n", "kRx83kd", "password"),
    ("Password: {}", "Xy7!pq9z", "password"),
    ("**Password:** {}", "Xy7!pq9z", "password"),
    ("| password | {} |", "Xy7!pq9z", "password"),
    ("パスワード：{}", "Xy7!pq9z", "password"),
    ("mysql --password={} -u root", "Xy7!pq9z", "password"),
    ("tool --password {}", "Xy7!pq9z", "password"),
    ("<password>{}</password>", "Xy7!pq9z", "password"),
    ("password: str = '{}'", "heron77", "password"),
    ('const API_KEY = "{}";', HEX, "key"),
    ("api-key: {}", HEX, "key"),
    ("x-api-key: {}", HEX, "key"),
    ("aws_secret_access_key = {}", "wJalrXUtnF3M1K7MD9NGbPxRf1CYk3y8n2Q4x7Lm", "key"),
    ("https://h/x?a=1&token={}&b=2", LETTERS[:24], "key"),
    ("client_secret: {}", "550e8400-e29b-41d4-a716-446655440000", "key"),
    ("Authorization: Bearer {}", LETTERS[:24], "authorization"),
    ('-H "Authorization: Basic {}"', "dXNlcjpoZXJvbjc3", "authorization"),
    ("postgres://u:{}@h/db", "pw9", "url-password"),
    ("https://maria:{}@example.org/x", "correcthorse", "url-password"),
    ("redis://:{}@127.0.0.1:6379", "heron", "url-password"),
    ("curl -s -u maria:{} https://example.org", "correcthorse9", "password"),
    ("curl --user 'maria:{}' https://example.org", "correcthorse9", "password"),
    ("mysqldump -u root -p{} shop > x.sql", "heron77", "password"),
    ("sshpass -p {} ssh maria@example.org", "heron77", "password"),
    ("redis-cli -h h -a {} ping", "heron77", "password"),
    ("db_pass: {}", "Xy7!pq9z", "password"),
    ('SMTP_PASS="{}"', "heron77", "password"),
    ("パスワードは {} です", "Xy7!pq9z", "password"),
    ("The password is {} now", "Xy7!pq9z", "password"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "secret", "rule"), PLACED)
def test_a_secret_is_masked_by_what_stands_before_it(place: str, secret: str, rule: str) -> None:
    """In code, env files, notes, tables, command lines, headers and URLs: only the secret itself."""
    text = f"a {place.format(secret)} z"
    masked, counts = redact(text)
    assert dict(counts) == {rule: 1}
    start = text.index(secret)
    assert masked == text[:start] + mask(rule, secret) + text[start + len(secret) :]


HARMLESS = [
    'password = os.environ["DB_PASSWORD_2"]', "password = getpass.getpass()", "token = tokens[2]", "pwd=/home/a1/b2c3",
    "password = config.db_password2", "password = get_password2(x)", 'password = "changeme"',
    'api_key = "your-api-key-1"',
    'token = "<token>"', "TOKEN=${TOKEN_2}", 'password = "{{ vault_pw_1 }}"', "password: str", "token: Optional[str]",
    "api_key=API_KEY_2", 'secret = "********"', 'password = "password123"', "token count: 4096", "max_tokens: 8192",
    "the password: see page 12", "password: required", 'type="password"', "next_token = 7",
    'PASSWORD="$(pass show x1)"',
    "sort_key = 'a1b2c3d4e5f6a7b8'", "publicKeyToken=\"b77a5c561934e089\"", "key = 'a1b2c3d4e5f6a7b8'",
    "Authorization: Bearer YOUR_TOKEN", "Authorization: Bearer <token>", "bearer of bad news", "a bearer token is sent",
    "https://user:password@example.org", "https://example.org:8080/a@b", "postgres://u:${PW}@h/db",
    "git@github.com:a/b",
    "task-management-for-everybody-and-others-too-of-all", "risk-1234567890123456789012345678901234567890",
    "sk-fading-circle sk-cube-grid", "disk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "monkey-" + HEX, "ghp_short",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "sha256:" + HEX + HEX, "550e8400-e29b-41d4-a716-446655440000",
    '"integrity": "sha512-' + LETTERS + LETTERS + '=="', "data:image/png;base64,iVBORw0KGgo" + LETTERS * 20,
    "AKIAabc", "eyJhbGciOiJIUzI1NiJ9", "passwords: 3", "keyboard: qwertz2", "the secret: it was me, 1987",
    "curl -u user:password https://example.org", "curl -u $USER:$PASS https://example.org", "mysql -u root -p shop",
    "all tests pass: 4,512 of 4,512", "low_pass: filter2", "the password is required", "パスワードは8文字以上です",
    "mysql -port 3306", "curl -o a.html -u", "by_pass: True",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_references_placeholders_hashes_and_words_stay(text: str) -> None:
    """References to a secret, examples, types, hashes, UUIDs, lock files, pictures, and words that begin alike."""
    assert redact(text) == (text, {})


def test_a_password_is_masked_where_it_is_repeated_without_its_name() -> None:
    """In the text and in every field of the document; a short one only where its place gives it away."""
    text = "password = 'Tr0ub4dor&3'\n\nThen I typed Tr0ub4dor&3 and pw9. postgres://u:pw9@h\n"
    masked, counts = redact(text)
    assert "Tr0ub" not in masked
    assert masked.endswith("and pw9. postgres://u:***@h\n")
    assert dict(counts) == {"password": 2, "url-password": 1}


def test_masking_twice_is_masking_once() -> None:
    """A mask is no secret."""
    text = "\n".join([*(key for keys in KEYS.values() for key in keys), *(p.format(s) for p, s, _ in PLACED)])
    masked, counts = redact(text)
    assert sum(counts.values()) >= len(PLACED)
    assert redact(masked) == (masked, {})


def test_a_mask_is_as_long_as_the_secret_and_says_which_rule_if_it_can() -> None:
    """Line by line, in code points."""
    assert [mask("jwt", "x" * n) for n in (3, 9, 10, 15, 16)] == [
        "***", "*********", "[redacted]", "[redacted:jwt ]", "[redacted:jwt  ]"
    ]  # fmt: skip
    assert mask("key", "é" * 12 + "\n\n" + "𝄞𝄞") == "[redacted  ]\n\n**"


def test_a_document_is_masked_in_every_field_and_counts_by_rule() -> None:
    """Text, title, headings, tags, aliases, description, links, warnings and properties; offsets stay."""
    key, word = KEYS["github"][0], "Tr0ub4dor&3"
    text = f"---\napi_key: {HEX}\n---\n# About {key}\n\npassword: '{word}' [[{word}]]\n"
    document = Document(
        "n/a.md", "n", "markdown", "note", f"About {key}", text, NOW,
        sections=(Section(1, (f"About {key}",), 0, len(text)),), description=f"uses {word}", tags=(key, "plain"),
        aliases=(word,), links=(Link(word, word, f"to {word}", "wikilink", 3),), warnings=(f"line 2: {HEX}",),
        metadata={"api_key": HEX, "list": [{"note": word, "token": LETTERS}], "n": 1},
    )  # fmt: skip
    clean = redacted(document)
    assert len(clean.text) == len(text)
    assert all(secret not in repr(clean) for secret in (key, word, HEX, LETTERS))
    assert clean.metadata["secrets"] == {"github": 1, "key": 2, "password": 2}
    assert (clean.tags[1], clean.metadata["n"], clean.links[0].start) == ("plain", 1, 3)
    plain = Document("n/a.md", "n", "markdown", "note", "t", "nothing here", NOW, metadata={"secrets": "mine"})
    assert redacted(plain) is plain


def test_no_text_makes_it_slow() -> None:
    """Repeated beginnings, names, signs and broken keys cost no more than a second for half a megabyte."""
    begin = "-----BEGIN PRIVATE KEY-----\n"
    texts = (
        "token" * 100_000, "password: " * 50_000, "sk-" * 150_000, "eyJ" * 150_000, "://a:" * 100_000 + "@",
        "a." * 200_000,
        begin + "QUJD" * 100_000 + "!", (begin + "abc+/" * 12) * 5_000, 'password = "' + "username" * 37 + 'z1"',
        "".join(f'password = "Xk{n}q!w9z"\n' for n in range(15_000)), "password" + " " * 400_000, "A-B: c\n" * 60_000,
        "curl " * 100_000, "mysql -" * 70_000, "curl -u a" * 50_000, "_pass" * 100_000,
    )  # fmt: skip
    for text in texts:
        started = time.process_time()
        masked, _ = redact(text)
        assert len(masked) == len(text)
        assert time.process_time() - started < 10
