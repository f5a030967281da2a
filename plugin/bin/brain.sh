#!/bin/sh
# Runs `brain` with these arguments: the one on PATH, one where installers put it, or through uvx or pipx.
# Hooks never fetch anything: without an installed `brain` they are silent, and a session's start says what to install.

for candidate in brain "$HOME/.local/bin/brain" /opt/homebrew/bin/brain /usr/local/bin/brain; do
  if command -v "$candidate" >/dev/null 2>&1; then
    exec "$candidate" "$@"
  fi
done

if [ "$1" = hook ]; then
  cat >/dev/null
  if [ "$2" = SessionStart ]; then
    printf '%s' '{"systemMessage":"second-brain: the command brain is not installed. Type: uv tool install '"'"'second-brain[mcp]'"'"' (or pipx install, or pip install --user), then start a new session."}'
  fi
  exit 0
fi

if command -v uvx >/dev/null 2>&1; then
  exec uvx --from 'second-brain[mcp]' brain "$@"
fi
if command -v pipx >/dev/null 2>&1; then
  exec pipx run --spec 'second-brain[mcp]' brain "$@"
fi

echo "second-brain: the command brain is not installed, and neither are uv and pipx." >&2
echo "  install it: pip install --user 'second-brain[mcp]'" >&2
exit 127
