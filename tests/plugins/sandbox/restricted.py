"""Runs a program as a container does whose seccomp profile is Docker's default: it can make no namespace and no mount.

python restricted.py [--without CALL]... PROGRAM [ARGUMENT]...
"""

from __future__ import annotations

import errno
import os
import sys

import pyseccomp

#: New namespaces: mount, cgroup, UTS, IPC, user, process, network.
_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


def main() -> None:
    """Refuse what such a container refuses, and become the program."""
    words = sys.argv[1:]
    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in ("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen"):
        calls.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    for flag in _NAMESPACES:
        calls.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    while words[0] == "--without":
        calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), words[1])
        words = words[2:]
    calls.load()
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
