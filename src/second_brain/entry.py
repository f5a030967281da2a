"""The command ``brain``: hooks are answered before anything but the standard library is imported."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process; returns its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from .hooks.entry import main as hook

        return hook(sys.argv[2:])
    from .cli.__main__ import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
