"""A warm interpreter behind the wall. It forks once per test, and leaves nothing of the test behind.

It is started as ``python -s -S -P -B -X utf8 warm.py`` with an empty environment, so it holds nothing worth reading. It
reads frames from standard input, a socket, and writes frames to standard output: four bytes of length, then the bytes.
The first frame sets it up. Each further frame announces a test and carries three descriptors: the standard input of the
test, its requests and its replies. graphkit talks to the test over these directly, so no job, argument or value passes
through this process: a later test, which is a copy of it, can't find any. The reply to the announcement says how the
test ended. An empty frame ends the running test.

Before a child sees the code of an answer, it gives up what that doesn't need: descriptors, capabilities, memory,
signals, further processes, the network and, unless a namespace hides them, the files of the host. The end of standard
input ends everything.
"""

from __future__ import annotations

# Import here, once, what code often imports.
import collections
import contextlib
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fcntl
import functools
import gc
import itertools
import json
import math
import os
import random
import re
import resource
import select
import signal
import socket
import stat
import struct
import sys
import time
import typing
from typing import Any

#: The descriptors of a child: requests, replies, and for a program a third one, which it closes when it has started.
#: From then on it can neither execute a file nor map one for that.
REQUESTS, REPLIES, STARTED = 3, 4, 5

#: The bytes of data that a program holds before it runs any code.
_PROGRAM_DATA = 64 << 20

_PDEATHSIG, _SECCOMP, _NO_NEW_PRIVS, _FILTER = 1, 22, 38, 2
_RESTRICT_SELF = 446  # landlock_restrict_self has this number on every architecture
_CAPABILITIES = 0x20080522
#: Numbers and flags of the kernel for a filter that asks this process.
_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _NEW_LISTENER = 1, 8
#: Above every descriptor that a child keeps.
_HIGH = 64

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


class _Filter(ctypes.Structure):
    """A seccomp program in the form that the kernel reads."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def main() -> None:
    """Run tests until standard input ends."""
    frame = _read_frame()
    if frame is None:
        return
    setup = json.loads(frame)
    _setup.update(setup)
    setup["pid"] = os.getpid()
    os.environ.clear()
    os.chdir(setup["scratch"])
    sys.path.insert(0, setup["inside"])
    import python_assertions
    import python_tests
    import watching

    sys.path.remove(setup["inside"])
    runners = {"python_tests": python_tests.serve, "python_assertions": python_assertions.serve}
    _load_extensions()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    gc.collect()
    gc.freeze()
    _write_frame(b"ready")
    while (frame := _read_frame()) is not None:
        if not frame:  # the test to stop had ended
            continue
        ended = _run(setup, json.loads(frame), runners, _given)
        _empty(".")
        _write_frame(json.dumps(ended).encode())
    _leave(setup)


def _load_extensions() -> None:
    """Map the extension modules of the standard library: a child can't map any file for execution."""
    for folder in [one for one in sys.path if os.path.basename(one) == "lib-dynload"]:
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):  # it needs a library that this machine lacks
                ctypes.PyDLL(os.path.join(folder, name))


def _leave(setup: dict[str, Any]) -> None:
    """Remove the scratch folder, since graphkit may have been killed."""
    _empty(".")
    with contextlib.suppress(OSError):  # in a namespace it is a mount, and vanishes with that
        os.rmdir(setup["scratch"])
    os._exit(0)


# Frames --------------------------------------------------------------------------------------------------------------


#: The content of the first frame.
_setup: dict[str, Any] = {}

#: The descriptors that came with the last frame.
_given: list[int] = []


def _read_exactly(size: int) -> bytes | None:
    parts = []
    with socket.socket(fileno=os.dup(0)) as source:
        while size:
            part, descriptors, _, _ = socket.recv_fds(source, size, 3)
            _given.extend(descriptors)
            if not part:
                return None
            parts.append(part)
            size -= len(part)
    return b"".join(parts)


def _read_frame() -> bytes | None:
    head = _read_exactly(4)
    return None if head is None else _read_exactly(int.from_bytes(head, "big"))


def _write_frame(data: bytes) -> None:
    _write(1, len(data).to_bytes(4, "big") + data)


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


def _stopped(child: int) -> bool:
    """Return whether to stop the test. If standard input has ended, end everything."""
    if _read_frame() is not None:
        return True
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _leave(_setup)
    return True


# A test, seen from outside -------------------------------------------------------------------------------------------


def _run(setup: dict[str, Any], wanted: dict[str, Any], runners: dict[str, Any], given: list[int]) -> dict[str, Any]:
    """Run one test in a child, end it if it passes a limit, and return how it ended."""
    import watching  # main has made it importable

    printed, printed_end = os.pipe()
    status, status_end = socket.socketpair()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        status.close()
        _child(setup, wanted, runners, printed_end, status_end, given)
    os.close(printed_end)
    status_end.close()
    while given:
        os.close(given.pop())
    watch = watching.ChildWatch(setup, wanted, child, started, status)
    how, ended = watch.follow(printed, _stopped)
    seconds = time.monotonic() - started
    if ended is None:
        os.kill(child, signal.SIGKILL)
        ended = watching.reaped(child, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # its own children, if no wall forbids them
        os.killpg(child, signal.SIGKILL)
    exit_status, used = ended
    watch.hear_the_rest()
    watch.close()
    os.close(printed)
    code = os.waitstatus_to_exitcode(exit_status)
    if how == "exited" and code < 0:
        how, code = "signal", -code
    # The path of the folder depends on the machine, not on the code.
    folder = os.fsencode(setup["scratch"]) + b"/"
    text = bytes(watch.kept).replace(folder, b"").decode(errors="replace")
    report = {"how": how, "code": code, "seconds": seconds, "memory": used.ru_maxrss * 1024}
    return {**report, "printed": text, "stands": watch.stands}


def _empty(folder: str) -> None:
    """Remove everything in a folder, however deep: move the content of each folder up first."""
    number = 0
    waiting = [entry.path for entry in os.scandir(folder)]
    while waiting:
        path = waiting.pop()
        if os.path.islink(path) or not os.path.isdir(path):
            os.unlink(path)
            continue
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            while os.path.lexists(moved := f"{folder}/.{number}"):  # a test may have used this name
                number += 1
            os.rename(f"{path}/{name}", moved)
            waiting.append(moved)
        os.rmdir(path)


# A test, seen from inside --------------------------------------------------------------------------------------------


def _child(
    setup: dict[str, Any],
    wanted: dict[str, Any],
    runners: dict[str, Any],
    printed: int,
    status: socket.socket,
    given: list[int],
) -> None:
    """Run one test; never returns."""
    exit_status, own = 70, os.getpid()
    try:
        os.setsid()
        random.seed(0)  # repeatable results; the library has seeded it anew at the fork
        started = _take_descriptors(setup, printed, status, given)
        number = os.readlink("self", dir_fd=setup["processes"]).encode()
        _give_up(setup, wanted, started)
        os.write(started, number + b"+")
        if wanted["argv"]:
            command = [*wanted["argv"], os.path.join(setup["inside"], wanted["script"])]
            os.execve(command[0], command, {})
        os.close(started)
        runners[wanted["script"]](REQUESTS, REPLIES)
        sys.stdout.flush()
        sys.stderr.flush()
        if os.getpid() == own:  # no copy of it, which a missing wall would allow
            exit_status = 0
    except BaseException as error:
        with contextlib.suppress(BaseException):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(exit_status)


def _take_descriptors(setup: dict[str, Any], printed: int, status: socket.socket, given: list[int]) -> int:
    """Keep only a child's descriptors and those that build the wall; return the one for its status."""
    stdin, requests, replies = given
    given.clear()
    # Move all of them up first, so that none is overwritten before it is in its place.
    high = [fcntl.fcntl(one, fcntl.F_DUPFD, _HIGH) for one in (stdin, printed, printed, requests, replies, status)]
    status.detach()
    for one in ("landlock", "processes"):
        if setup[one] is not None:
            setup[one] = fcntl.fcntl(setup[one], fcntl.F_DUPFD, 2 * _HIGH)
    for target, source in enumerate(high):
        os.dup2(source, target)
    os.closerange(STARTED + 1, 2 * _HIGH)
    return STARTED


def _give_up(setup: dict[str, Any], wanted: dict[str, Any], started: int) -> None:
    """Give up what the code of an answer doesn't need; raise an OSError if that fails."""
    limits, program = wanted["limits"], bool(wanted["argv"])
    # A program may reserve more addresses than it ever uses, and has descriptors of its own.
    memory = resource.RLIMIT_DATA if program else resource.RLIMIT_AS
    seconds = int(wanted["seconds"]) + 2
    for kind, most in (
        (memory, limits["memory"] + (_PROGRAM_DATA if program else 0)),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, limits["open_files"] * (4 if program else 1)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    _checked(_libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "life without its parent")
    if os.getppid() != setup["pid"]:
        os._exit(0)  # its parent ended before
    if not setup["wall"]:
        os.closerange(STARTED + 1, 1 << 16)
        return
    _checked(_libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()), "capabilities")
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "new privileges")
    if setup["landlock"] is not None:
        _checked(_libc.syscall(_RESTRICT_SELF, setup["landlock"], 0), "files, by Landlock")
    os.closerange(STARTED + 1, 1 << 16)
    if program:
        _ask_before_mapping(setup["seccomp"]["mapping"], started)
    filters = _filter(setup["seccomp"]["program" if program else "python"])
    _checked(_libc.prctl(_SECCOMP, _FILTER, ctypes.addressof(filters), 0, 0), "system calls, by seccomp")


def _filter(instructions: str) -> _Filter:
    code = bytes.fromhex(instructions)
    return _Filter(len(code) // 8, code)


def _ask_before_mapping(instructions: str, started: int) -> None:
    """Make the kernel ask the parent before a file is executed: only a starting program may do that."""
    filters = _filter(instructions)
    number = _SECCOMP_CALL.get(os.uname().machine, 277)
    listener = _libc.syscall(number, _SET_FILTER, _NEW_LISTENER, ctypes.byref(filters))
    _checked(min(listener, 0), "mapping files for execution, by seccomp")
    with socket.socket(fileno=os.dup(started)) as target:
        socket.send_fds(target, [b"?"], [listener])
    os.close(listener)


def _checked(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"couldn't give up {what}: {os.strerror(error)}")


if __name__ == "__main__":
    main()
