"""Which folders lie on drives that do not tell of what other machines change there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

NETWORK = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "ncpfs", "webdav", "davfs", "afs", "coda"),
        *("9p", "drvfs", "virtiofs", "vboxsf", "vmhgfs", "prl_fs"),
        *("ceph", "glusterfs", "lustre", "gpfs", "beegfs"),
    )
)
"""Types of file systems behind which another machine, or the host of this one, writes unseen."""

_MOUNTINFO = Path("/proc/self/mountinfo")
_MOUNTED = re.compile(r"^.* on (?P<point>/.*) \((?P<type>[\w-]+)[,)]", re.MULTILINE)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_drive(path: Path) -> str:
    """The type of the network drive on which a path lies, '' for a drive of this machine."""
    if sys.platform == "win32":
        return "network share" if str(path).startswith("\\\\") else ""
    try:
        if sys.platform == "darwin":
            table = subprocess.run(("/sbin/mount",), capture_output=True, text=True, timeout=10, check=True).stdout
            mounts = [(found["point"], found["type"]) for found in _MOUNTED.finditer(table)]
        else:
            mounts = linux_mounts(_MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, subprocess.SubprocessError):
        return ""
    kind = type_at(os.path.realpath(path), mounts)
    # every fuse but that of local disks in another system's format has a program of its own behind it
    return kind if kind in NETWORK or kind == "fuse" or kind.startswith(("fuse.", "macfuse", "osxfuse")) else ""


def linux_mounts(table: str) -> list[tuple[str, str]]:
    """Mount points and types from ``/proc/self/mountinfo``, see proc_pid_mountinfo(5)."""
    found = []
    for line in table.splitlines():
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) > 4 and rest:
            point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), parts[4])
            found.append((point, rest.split(" ", 1)[0]))
    return found


def type_at(path: str, mounts: list[tuple[str, str]]) -> str:
    """The type of the innermost mount above a real path; of two at one point the later one covers the other."""
    best, kind = "", ""
    for point, named in mounts:
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, named
    return kind
