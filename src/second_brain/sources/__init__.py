"""Where does text come from? A source lists its items and gives their bytes; it interprets nothing.

`markdown` is a folder of notes, `documents` one of PDF and office files, `code` one of programs, and `repo` is that of
a git repository, which `git` is asked about. All are a `folder`. The rest are its parts, ready for other kinds:
`walking` lists a folder tree, `ignore` knows git's ignore rules, `obsidian` the vault's own exclusions,
`reading` opens one file, `fingerprints` tell whether one may have changed, `paths` turns names on disk into
uris.

`sessions` is a folder of logs that are condensed while they are read: `claude_sessions`, `codex_sessions`,
`gemini_sessions`, and `exports` of chats. `json_lines` finds records in damaged and endless files, `conversation` keeps
what was said in them, `archive` keeps copies of logs that their agents delete.

Useful for: a new kind of source. Not for: titles, tags or links (`parsing`), or deciding what changed
(`ingest`).
"""
