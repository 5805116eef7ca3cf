"""Which calls of the system the code of an answer may not make, as a program that the kernel runs at each call."""

from __future__ import annotations

import errno
import tempfile
from functools import lru_cache
from typing import Any

#: A new thread says this of itself; a new process doesn't.
_CLONE_THREAD = 0x10000
#: What a thread shares with the others: with a table of descriptors of its own, it would have a limit of its own.
_CLONE_FILES = 0x400
_CLOSE_RANGE_UNSHARE = 2

#: Of the calls that do many things, those that are refused. All of these are 32 bits to the kernel: so are they here.
_WORD = 0xFFFFFFFF
_PDEATHSIG, _DUMPABLE = 1, 4
#: Who is signalled when a descriptor is ready, and by what; leases and notes make others wait, or be signalled.
_SIGNALLING = {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15, "F_SETLEASE": 1024, "F_NOTIFY": 1026}
#: What terminals and all descriptors understand; below and above are those of sockets, file systems and devices.
_TERMINAL_CALLS = (0x5400, 0x54FF)
_TYPING = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSCTTY": 0x540E, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D}
_AF_UNIX = 1
#: Of a mapping: that it may be executed, that others see what is written to it, and that no file lies behind it.
_EXECUTABLE, _SHARED, _ANONYMOUS = 4, 1, 0x20

#: Calls that are refused, each group with what it would allow.
REFUSED = {
    "processes": ("fork", "vfork"),
    "signals": (
        *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
        *("pidfd_open", "pidfd_send_signal", "pidfd_getfd"),
    ),
    "other processes": (
        *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
        *("setpriority", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "ioprio_set"),
        *("migrate_pages", "move_pages"),
    ),
    # What is left is a pair of sockets that are connected with each other, which asyncio needs.
    "network": (
        *("socket", "connect", "bind", "listen", "accept", "accept4", "sendmsg", "sendmmsg"),
        *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    ),
    # Landlock says nothing of these.
    "what is known of files": (
        *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
        *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
        *("utime", "utimes", "utimensat", "futimesat", "truncate", "mknod", "mknodat"),
        *("inotify_init", "inotify_init1", "fanotify_init", "open_by_handle_at", "name_to_handle_at"),
    ),
    "memory that outlives or evades the limits": (
        *("memfd_create", "memfd_secret", "userfaultfd", "shmget", "shmat", "shmctl"),
        # A number that is guessed is enough for what others left.
        *("msgget", "msgctl", "msgsnd", "msgrcv", "semget", "semctl", "semop", "semtimedop", "mq_open", "mq_unlink"),
    ),
    "the machine": (
        *("mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr"),
        *(
            "unshare",
            "setns",
            "chroot",
            "pivot_root",
            "swapon",
            "swapoff",
            "quotactl",
            "quotactl_fd",
            "acct",
            "sync",
        ),
        *("syncfs", "syslog", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module"),
        *("delete_module", "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "personality"),
        *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "vhangup"),
        *("iopl", "ioperm", "lookup_dcookie", "nfsservctl", "uselib", "ustat", "sysfs"),
    ),
}

#: The numbers of calls that are younger than the libraries in use; since 424 they are the same on every architecture.
_YOUNG = {"fchmodat2": 452}
#: Calls that came after futex_requeue, and those to come: nobody needs them yet, and what they allow isn't judged.
_UNKNOWN = range(457, 600)


@lru_cache(maxsize=2)
def program(executes: bool) -> bytes:
    """Return the filter as instructions of the kernel; where it ``executes``, a program may still take its place.

    Raises
    ------
    ImportError, RuntimeError
        The package ``pyseccomp`` isn't there, or the library ``libseccomp`` that it calls.
    """
    import pyseccomp

    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refused = [name for names in REFUSED.values() for name in names] + ([] if executes else ["execve", "execveat"])
    for name in refused:
        _refuse(calls, name)
    thread = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0)
    _refuse(calls, "clone", thread)
    # Its flags lie in memory, where no filter looks; without it, clone is called.
    _refuse(calls, "clone3", error=errno.ENOSYS)
    _refuse(calls, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_FILES, 0))
    _refuse(calls, "close_range", pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _CLOSE_RANGE_UNSHARE, _CLOSE_RANGE_UNSHARE))
    # It ends with its parent, which can look at what it holds.
    for one in (_PDEATHSIG, _DUMPABLE):
        _refuse(calls, "prctl", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _WORD, one))
    for command in _SIGNALLING.values():
        _refuse(calls, "fcntl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _WORD, command))
    least, most = _TERMINAL_CALLS
    _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.LT, least), error=errno.EOPNOTSUPP)
    _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.GT, most), error=errno.EOPNOTSUPP)
    for command in _TYPING.values():
        _refuse(calls, "ioctl", pyseccomp.Arg(1, pyseccomp.EQ, command))
    # It could reserve more of a disk than a file may have; the libraries write instead.
    _refuse(calls, "fallocate", error=errno.EOPNOTSUPP)
    for number in _UNKNOWN:
        calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    # A pair may be of the kind that all machines have, and no other.
    _refuse(calls, "socketpair", pyseccomp.Arg(0, pyseccomp.NE, _AF_UNIX))
    # A message may go to the other end of a pair, and to no address.
    _refuse(calls, "sendto", pyseccomp.Arg(4, pyseccomp.NE, 0))
    # Its own limits, which can only be lowered, and nobody else's.
    _refuse(calls, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))
    if executes:
        # A program's limit counts its own memory only, so there is none that is shared.
        shared = _SHARED | _ANONYMOUS
        _refuse(calls, "mmap", pyseccomp.Arg(3, pyseccomp.MASKED_EQ, shared, shared), error=errno.ENOMEM)
    else:
        # Python compiles nothing to machine code, and its extension modules are mapped before.
        for name in ("mmap", "mprotect", "pkey_mprotect"):
            _refuse(calls, name, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _EXECUTABLE, _EXECUTABLE))
    return _exported(calls)


@lru_cache(maxsize=1)
def mapping() -> bytes:
    """Return the filter by which the kernel asks a process outside before a program executes, or maps for that, a file.

    A program that compiles to machine code needs executable memory, but executes files only when it starts: its own,
    and its libraries.
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
    """Refuse a call that this kind of machine has."""
    import pyseccomp

    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    if number < 0:
        number = _YOUNG.get(name, number)
    if number >= 0:
        calls.add_rule(pyseccomp.ERRNO(error), number, *where)
