"""Lays out targets for attempts to reach, and checks them from outside, whatever the attempts report."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pty
import resource
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import tty
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from graphkit.files.leftovers import held_folder
from graphkit.plugins.sandbox.executions import Mechanism
from graphkit.plugins.sandbox.hosts import interpreter
from graphkit.plugins.sandbox.inside.watching import LOOK
from graphkit.plugins.sandbox.limits import SandboxLimits
from graphkit.plugins.sandbox.workers import Ended

#: System calls that attempts make by their numbers.
_CALLS = (
    *("fork", "clone", "clone3", "exit", "socket", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "pidfd_open"),
    *("pidfd_getfd", "kcmp", "perf_event_open", "io_uring_setup", "openat2", "name_to_handle_at", "open_by_handle_at"),
    *("add_key", "keyctl", "mq_open", "mq_unlink", "unshare", "fsopen", "open_tree", "pivot_root", "execveat"),
)
#: Newer than the library that knows the others; the number is the same on every architecture.
_YOUNG = {"listmount": 458}

_libc = ctypes.CDLL(None, use_errno=True)
_CREATE, _OWNER = 0o1000, 0o600
_KEYCTL_UNLINK, _USER_KEYRING = 9, -4

#: The seconds within which a process that nobody touched gives back what it gets.
ANSWERS_WITHIN = 10.0


class Witness:
    """Secrets, listeners, files and a process that no test may reach, with checks whether one did.

    Attributes
    ----------
    given
        The input of an attempt: where the targets are, but not their content.
    """

    def __init__(self, mechanism: Mechanism, files: Sequence[Path], limits: SandboxLimits) -> None:
        self._secrets = {
            name: secrets.token_hex(16) for name in ("file", "environment", "memory", "segment", "message")
        }
        self._files = files
        self._limits = limits
        self._stack = ExitStack()
        self._signals = 0
        token = f"graphkit-{secrets.token_hex(6)}"
        self.given: dict[str, Any] = {
            "walled": mechanism != "none",
            "token": token,
            "key": secrets.randbelow(1 << 30) + 1,
            "pid": os.getpid(),
            "python": str(interpreter()),
            "look": 4 * LOOK,
            "limits": {name: getattr(limits, name) for name in SandboxLimits.__dataclass_fields__},
            "calls": _call_numbers(),
            "of_the_wall": sorted(
                {"dev", "null", "inside", "graphkit-scratch", *(part for path in files for part in path.parts)}
            ),
        }

    # Targets

    def __enter__(self) -> Self:
        """Lay out all targets."""
        with ExitStack() as stack:
            folder = stack.enter_context(held_folder())
            self._secret, self._outside = folder / "secret", folder / "outside"
            self._secret.write_text(self._secrets["file"])
            self._make_files()
            self._listen(folder, stack)
            self._memory = ctypes.create_string_buffer(self._secrets["memory"].encode())
            descriptor = os.open(self._secret, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            os.set_inheritable(descriptor, True)
            os.environ["GRAPHKIT_WITNESS"] = self._secrets["environment"]
            stack.callback(os.environ.pop, "GRAPHKIT_WITNESS", None)
            self._master, self._terminal = pty.openpty()
            stack.callback(os.close, self._master)
            stack.callback(os.close, self._terminal)
            tty.setraw(self._terminal)
            self.given |= {
                "secret": str(self._secret),
                "outside": str(self._outside),
                "victim": str(self._outside / "victim"),
                "place": ctypes.addressof(self._memory),
                "descriptor": descriptor,
                "terminal": os.ttyname(self._terminal),
            }
            self._start_bystander()
            stack.callback(self._end_bystander)
            self._make_shared()
            stack.callback(self._remove_shared)
            if threading.current_thread() is threading.main_thread():
                former = signal.signal(signal.SIGURG, self._signalled)
                stack.callback(signal.signal, signal.SIGURG, former)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove all targets."""
        self._stack.close()

    def _signalled(self, *_: object) -> None:
        self._signals += 1

    def _make_files(self) -> None:
        shutil.rmtree(self._outside, ignore_errors=True)
        self._outside.mkdir(mode=0o700)
        victim = self._outside / "victim"
        victim.write_text("untouched")
        victim.chmod(0o600)
        self._untouched = _snapshot(self._outside)

    def _listen(self, folder: Path, stack: ExitStack) -> None:
        name = self.given["token"]
        self._listeners: dict[str, socket.socket] = {}
        for key, family, kind, address in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("unix", socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "stream")),
            ("unix_datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagram")),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}"),
            ("abstract_datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{name}-d"),
        ):
            one = stack.enter_context(socket.socket(family, kind))
            one.bind(address)
            if kind == socket.SOCK_STREAM:
                one.listen(64)
            one.setblocking(False)
            bound = one.getsockname()
            where = bound[1] if isinstance(bound, tuple) else bound
            self.given[key] = where.decode().removeprefix("\0") if isinstance(where, bytes) else where
            self._listeners[key] = one

    def _start_bystander(self) -> None:
        self._bystander = subprocess.Popen(
            ["cat"],  # it gives back what it gets
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"GRAPHKIT_WITNESS": self._secrets["environment"]},
        )
        self.given["bystander"] = self._bystander.pid
        self._state = self._bystander_state()

    def _end_bystander(self) -> None:
        self._bystander.kill()
        self._bystander.communicate()

    def _bystander_answers(self) -> bool:
        """Return whether the bystander is alive; one that was killed may not have ended yet, but answers no more."""
        given, got = self._bystander.stdin, self._bystander.stdout
        assert given is not None
        assert got is not None
        with contextlib.suppress(BrokenPipeError):
            given.write(b"\n")
            return bool(select.select([got], [], [], ANSWERS_WITHIN)[0]) and got.read(1) == b"\n"
        return False

    def _bystander_state(self) -> dict[str, Any]:
        pid = self._bystander.pid
        return {
            "limits": resource.prlimit(pid, resource.RLIMIT_NOFILE),
            "priority": os.getpriority(os.PRIO_PROCESS, pid),
            "processors": os.sched_getaffinity(pid),
            "scheduling": os.sched_getscheduler(pid),
        }

    def _make_shared(self) -> None:
        """Make a segment, a message and semaphores; a number is -1 if the machine has none."""
        self.given |= {
            "segment": _libc.shmget(0, ctypes.c_size_t(4096), _CREATE | _OWNER),
            "queue": _libc.msgget(0, _CREATE | _OWNER),
            "semaphore": _libc.semget(0, 1, _CREATE | _OWNER),
        }
        _libc.shmat.restype = ctypes.c_void_p
        place = _libc.shmat(self.given["segment"], None, 0)
        if place not in (None, ctypes.c_void_p(-1).value):
            ctypes.memmove(place, self._secrets["segment"].encode(), 32)
            _libc.shmdt(ctypes.c_void_p(place))
        text = (1).to_bytes(8, sys.byteorder) + self._secrets["message"].encode()
        _libc.msgsnd(self.given["queue"], text, ctypes.c_size_t(32), 0)
        self._shared = self._shared_rows()

    def _shared_rows(self) -> list[str]:
        """Return the kernel's rows on our segment, queue and semaphores, and on those of the key."""
        numbers = {"shm": self.given["segment"], "msg": self.given["queue"], "sem": self.given["semaphore"]}
        rows = []
        for kind, number in numbers.items():
            with contextlib.suppress(OSError):
                for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]:
                    key, own = map(int, line.split()[:2])
                    if own == number or key == self.given["key"]:
                        rows.append(f"{kind} {line.strip()}")
        return rows

    def _remove_shared(self) -> None:
        for row in self._shared_rows():
            kind, _, number, *_ = row.split()
            if kind == "sem":
                _libc.semctl(int(number), 0, 0)
            else:
                getattr(_libc, f"{kind}ctl")(int(number), 0, None)

    # Checks

    def signs(self, ended: Ended) -> list[str]:
        """Return what got through during a test, and lay out damaged targets again."""
        return [
            *self._signs_in_output(ended),
            *self._changed_files(),
            *self._reached_listeners(),
            *self._reached_processes(),
            *self._leftovers(),
        ]

    def _signs_in_output(self, ended: Ended) -> list[str]:
        text = ended.result + ended.printed.encode()
        found = [f"the secret of the {name} came out" for name, one in self._secrets.items() if one.encode() in text]
        if ended.memory > self._limits.memory:
            found.append(f"used {ended.memory} bytes of memory")
        if len(ended.result) > self._limits.result or len(ended.printed) > self._limits.kept:
            found.append("more came out than may be kept")
        return found

    def _changed_files(self) -> list[str]:
        found = []
        if _snapshot(self._outside) != self._untouched:
            found.append("files outside were changed")
            self._make_files()
        beside = Path(tempfile.gettempdir(), self.given["token"])
        if beside.exists():
            found.append("a file was written beside the scratch folder")
            beside.unlink()
        if self._secret.read_text() != self._secrets["file"]:
            found.append("the secret file was changed")
            self._secret.write_text(self._secrets["file"])
        return found

    def _reached_listeners(self) -> list[str]:
        found = []
        for key, one in self._listeners.items():
            reached = False
            with contextlib.suppress(BlockingIOError):
                while True:
                    if one.type == socket.SOCK_STREAM:
                        one.accept()[0].close()
                    else:
                        one.recv(4096)
                    reached = True
            if reached:
                found.append(f"{key.replace('_', ' ')}: something arrived")
        while ready := select.select([self._master, self._terminal], [], [], 0)[0]:
            for terminal in ready:
                os.read(terminal, 4096)
            found.append("something was typed or written on a terminal")
        return found

    def _reached_processes(self) -> list[str]:
        found = []
        if self._signals:
            found.append("graphkit was signalled")
            self._signals = 0
        if not self._bystander_answers():
            found.append("another process was killed")
        elif (state := self._bystander_state()) != self._state:
            found += [f"another process's {name} were changed" for name in state if state[name] != self._state[name]]
        if found:
            self._end_bystander()
            self._start_bystander()
        return found

    def _leftovers(self) -> list[str]:
        found = []
        if self._shared_rows() != self._shared:
            found.append("shared memory, queues or semaphores were reached, removed or left")
            self._remove_shared()
            self._make_shared()
        if _libc.mq_unlink(f"/{self.given['token']}".encode()) == 0:
            found.append("a queue was left")
        with contextlib.suppress(OSError):
            for line in Path("/proc/keys").read_text().splitlines():
                if self.given["token"] in line:
                    found.append("a key was left")
                    keyctl = self.given["calls"].get("keyctl", -1)
                    number = ctypes.c_long(int(line.split()[0], 16))
                    _libc.syscall(ctypes.c_long(keyctl), _KEYCTL_UNLINK, number, ctypes.c_long(_USER_KEYRING))
        return found


def descendants(pid: int) -> set[int]:
    """Return the running descendants of a process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if state != "Z" or len(list((entry / "task").iterdir())) > 1:  # the first thread may end first
                    parents[int(entry.name)] = int(parent)
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found


def _snapshot(folder: Path) -> dict[str, Any]:
    """Return the content and the metadata of a folder, except the times of access."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        known = path.lstat()
        names = os.listxattr(path, follow_symlinks=False)
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        # The time of change also reveals changes that were undone.
        owner = (known.st_mode, known.st_uid, known.st_gid)
        found[str(path)] = (owner, known.st_nlink, known.st_ctime_ns, names, content)
    return found


def _call_numbers() -> dict[str, int]:
    try:
        import pyseccomp

        found = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in _CALLS}
    except (ImportError, RuntimeError):
        return dict(_YOUNG)
    return {name: number for name, number in found.items() if number >= 0} | _YOUNG
