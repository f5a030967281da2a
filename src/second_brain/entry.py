"""The command ``brain``: hooks are answered before anything but the standard library is imported."""

from __future__ import annotations

import os
import sys

VARIABLES = {"--home": "BRAIN_HOME", "--index": "BRAIN_INDEX"}
"""Global options that may stand before ``hook``, and the variables that say the same."""


def main() -> int:
    """Run the command line of this process; returns its exit code."""
    arguments = sys.argv[1:]
    chosen = {}
    while len(arguments) > 2 and arguments[0] in VARIABLES:
        chosen[VARIABLES[arguments[0]]] = arguments[1]
        arguments = arguments[2:]
    if arguments[:1] == ["hook"]:
        os.environ.update(chosen)
        from .hooks.entry import main as hook

        return hook(arguments[1:])
    from .cli.__main__ import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
