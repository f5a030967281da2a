"""On which drives the system tells nothing of what others change."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.watching import drives

MOUNTINFO = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /home/kim/team rw,relatime shared:5 - nfs4 server:/team rw
31 22 0:27 / /home/kim/my\040share rw - cifs //nas/share rw
32 22 0:28 / /home/kim/box rw - fuse.sshfs box: rw
33 22 0:29 / /mnt/c rw,noatime - 9p drvfs rw
34 22 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw
35 30 8:33 / /home/kim/team/local rw - ext4 /dev/sdc1 rw
36 22 0:31 / /over rw - nfs old:/x rw
37 36 8:49 / /over rw - xfs /dev/sdd1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/kim/notes", ""),
        ("/home/kim/team", "nfs4"),
        ("/home/kim/team/a/b", "nfs4"),
        ("/home/kim/teammate", ""),
        ("/home/kim/team/local/x", ""),
        ("/home/kim/my share/x", "cifs"),
        ("/home/kim/box/x", "fuse.sshfs"),
        ("/mnt/c/Users/kim", "9p"),
        ("/media/stick/notes", ""),
        ("/over/x", ""),
    ],
)
def test_network_drives_are_known_by_their_innermost_mount(tmp_path, monkeypatch, path, kind):
    """NFS, SMB, programs behind fuse, and Windows' disks in WSL; not a stick, and not what only begins alike."""
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTINFO)
    monkeypatch.setattr(drives, "_MOUNTINFO", table)
    assert drives.network_drive(Path(path)) == kind


def test_without_a_table_a_drive_is_taken_for_one_of_this_machine(tmp_path, monkeypatch):
    """Whatever the table holds, or none."""
    monkeypatch.setattr(drives, "_MOUNTINFO", tmp_path / "none")
    assert drives.network_drive(tmp_path) == ""
    assert drives.linux_mounts("rubbish\n\n1 2 3 - \n") == []


def test_a_folder_of_this_test_lies_on_no_network_drive(tmp_path):
    """With the table of the system that runs it."""
    assert drives.network_drive(tmp_path) == ""
