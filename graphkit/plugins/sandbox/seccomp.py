"""Filters of system calls: programs that the kernel runs at each call of an answer's code."""

from __future__ import annotations

import errno
import tempfile
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

#: The flag of a new thread, which a new process lacks.
_CLONE_THREAD = 0x10000
#: A thread that didn't share its table of descriptors would have a limit of its own.
_CLONE_FILES = 0x400
_CLOSE_RANGE_UNSHARE = 2

#: Refused uses of calls with many uses. The kernel reads these arguments as 32 bits, so the filter masks them.
_WORD = 0xFFFFFFFF
_PDEATHSIG, _DUMPABLE = 1, 4
#: Commands that choose a process to signal when a descriptor is ready, or make others wait.
_SIGNALLING = {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15, "F_SETLEASE": 1024, "F_NOTIFY": 1026}
#: The requests of terminals and all descriptors; those of sockets, file systems and devices are below and above.
_TERMINAL_CALLS = (0x5400, 0x54FF)
_TYPING = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSCTTY": 0x540E, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D}
_AF_UNIX = 1
#: Flags of a mapping: executable, shared with other processes, and without a file.
_EXECUTABLE, _SHARED, _ANONYMOUS = 4, 1, 0x20

#: The refused calls, by what they would allow.
REFUSED: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("refused_calls.toml").read_text(encoding="utf-8")
)

#: Numbers of calls that are newer than the library; from 424 on they are the same on every architecture.
_YOUNG = {"fchmodat2": 452}
#: Calls after futex_requeue, and future ones: nothing needs them yet, and their effects aren't reviewed.
_UNKNOWN = range(457, 600)


@lru_cache(maxsize=2)
def program(executes: bool) -> bytes:
    """Return the filter as instructions of the kernel; with ``executes``, the process may still start a program.

    Raise an ImportError or a RuntimeError if the package ``pyseccomp`` is missing, or its library ``libseccomp``.
    """
    import pyseccomp

    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refused = [name for names in REFUSED.values() for name in names] + ([] if executes else ["execve", "execveat"])
    for name in refused:
        _refuse(calls, name)
    thread = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0)
    _refuse(calls, "clone", thread)
    # Its flags are in memory, which a filter can't read; without it, libraries call clone.
    _refuse(calls, "clone3", error=errno.ENOSYS)
    _refuse(calls, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_FILES, 0))
    _refuse(calls, "close_range", pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _CLOSE_RANGE_UNSHARE, _CLOSE_RANGE_UNSHARE))
    # Keep it bound to its parent's end, and open to inspection.
    for one in (_PDEATHSIG, _DUMPABLE):
        _refuse(calls, "prctl", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _WORD, one))
    for command in _SIGNALLING.values():
        _refuse(calls, "fcntl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _WORD, command))
    least, most = _TERMINAL_CALLS
    _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.LT, least), error=errno.EOPNOTSUPP)
    _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.GT, most), error=errno.EOPNOTSUPP)
    for command in _TYPING.values():
        _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.EQ, command))
    # It could reserve more disk than the limit of a file; libraries write instead.
    _refuse(calls, "fallocate", error=errno.EOPNOTSUPP)
    for number in _UNKNOWN:
        calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    # Allow only pairs of Unix sockets.
    _refuse(calls, "socketpair", pyseccomp.Arg(0, pyseccomp.NE, _AF_UNIX))
    # Allow messages to the other end of a pair, but to no address.
    _refuse(calls, "sendto", pyseccomp.Arg(4, pyseccomp.NE, 0))
    # Allow access to its own limits, which it can only lower, but to no others.
    _refuse(calls, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))
    if executes:
        # A program's limit counts only private memory, so refuse shared memory.
        shared = _SHARED | _ANONYMOUS
        _refuse(calls, "mmap", pyseccomp.Arg(3, pyseccomp.MASKED_EQ, shared, shared), error=errno.ENOMEM)
    else:
        # Python compiles nothing to machine code, and has mapped its extension modules before.
        for name in ("mmap", "mprotect", "pkey_mprotect"):
            _refuse(calls, name, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _EXECUTABLE, _EXECUTABLE))
    return _exported(calls)


@lru_cache(maxsize=1)
def mapping() -> bytes:
    """Return the filter that makes the kernel ask a process outside before a program executes or maps a file.

    A program that compiles to machine code needs executable memory, but executes files (its own, and its libraries)
    only when it starts.
    """
    import pyseccomp

    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    executable = pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _EXECUTABLE, _EXECUTABLE)
    of_a_file = pyseccomp.Arg(3, pyseccomp.MASKED_EQ, _ANONYMOUS, 0)
    calls.add_rule(pyseccomp.NOTIFY, "mmap", executable, of_a_file)
    for name in ("execve", "execveat"):
        calls.add_rule(pyseccomp.NOTIFY, name)
    return _exported(calls)


def _exported(calls: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read()


def _refuse(calls: Any, name: str, *where: Any, error: int = errno.EPERM) -> None:
    """Refuse a call, if this architecture has it."""
    import pyseccomp

    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    if number < 0:
        number = _YOUNG.get(name, number)
    if number >= 0:
        calls.add_rule(pyseccomp.ERRNO(error), number, *where)
