"""Places from which a box is reached as from other machines: network namespaces, else other loopback addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from second_brain.testing.cutting_proxy import CuttingProxy


@dataclass(frozen=True, slots=True)
class Place:
    """Another machine, so to speak. ``prefix`` stands before a command that runs there; ``url`` is the box from there.

    ``cut`` and ``restore`` end and mend the line between the two.
    """

    name: str
    prefix: tuple[str, ...]
    url: str
    cut: Callable[[], None]
    restore: Callable[[], None]


NETS = tuple(f"10.{231 + number}.{os.getpid() % 250}" for number in (0, 1))
"""Of this process, so that several may test at once."""

HOSTS = ("127.0.0.2", "127.0.0.3", *(f"{net}.1" for net in NETS))
"""By what names the box may be reached from such places."""


def _ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def namespaces_work() -> bool:
    """Whether this process may make network namespaces."""
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("ip"):
        return False
    name = f"brain-{os.getpid()}-probe"
    made = _ip("netns", "add", name)
    return made and _ip("netns", "del", name)


@contextmanager
def namespaces(port: int) -> Iterator[list[Place]]:
    """Two places with a network of their own, each with one cable to the box, which listens on all addresses."""
    with ExitStack() as stack:
        places = []
        for number in (0, 1):
            name, ours, theirs = (f"{kind}{os.getpid() % 100_000}{number}" for kind in ("brn", "bro", "brt"))
            net = NETS[number]
            assert _ip("netns", "add", name)
            stack.callback(_ip, "netns", "del", name)
            assert _ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
            stack.callback(_ip, "link", "del", ours)
            for words in (
                ("link", "set", theirs, "netns", name),
                ("addr", "add", f"{net}.1/24", "dev", ours),
                ("link", "set", ours, "up"),
                ("-n", name, "addr", "add", f"{net}.2/24", "dev", theirs),
                ("-n", name, "link", "set", theirs, "up"),
                ("-n", name, "link", "set", "lo", "up"),
            ):
                assert _ip(*words), words

            def switch(to: str, ours: str = ours) -> None:
                assert _ip("link", "set", ours, to)

            places.append(
                Place(
                    f"namespace {net}.2",
                    ("ip", "netns", "exec", name),
                    f"http://{net}.1:{port}",
                    lambda switch=switch: switch("down"),  # type: ignore[misc]
                    lambda switch=switch: switch("up"),  # type: ignore[misc]
                )
            )
        yield places


@contextmanager
def loopbacks(port: int) -> Iterator[list[Place]]:
    """Two other loopback addresses, each with a line of its own to the box."""
    with ExitStack() as stack:
        places = []
        for host in HOSTS[:2]:
            line = stack.enter_context(CuttingProxy(port, listening=host).running())

            def cut(line: CuttingProxy = line) -> None:
                line.mode = "refuse"
                line.cut_all()

            places.append(Place(f"loopback {host}", (), line.url, cut, line.restore))
        yield places
