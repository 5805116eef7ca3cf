"""Reports what the code of an answer tries that a sandbox doesn't allow, from Python's audit events."""

from __future__ import annotations

import os
import sys

from python_common import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST_ATTEMPTS = 5


class Watch:
    """A record of forbidden attempts, for the diagnosis; it is no wall.

    Python raises an audit event before it makes the system call.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []
        self.paths: set[str] = set()
        self.others = False

    def start(self) -> None:
        """Watch from now on; the hook can't be removed again."""
        roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__), *sys.path}
        self.folder = os.getcwd()
        self.readable = tuple(os.path.join(os.path.abspath(root), "") for root in roots - {os.sep})
        sys.addaudithook(self._see)

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        note = _EVENTS.get(event)
        if note is not None:
            try:
                note(self, event, args)
            except Exception:  # unexpected arguments
                pass

    def note(self, text: str) -> None:
        """Keep an attempt, if it is new and among the first."""
        text = text[:200]
        if len(self.attempts) < _MOST_ATTEMPTS and text not in self.attempts:
            self.attempts.append(text)

    def other(self, text: str) -> None:
        """Keep an attempt on something other than a path."""
        self.note(text)
        self.others = True

    def path(self, verb: str, path: Any, writes: bool) -> None:
        """Keep a path that the sandbox doesn't let the code read or write."""
        if path is None or isinstance(path, int):
            return
        path = os.fsdecode(path)
        full = os.path.normpath(os.path.join(self.folder, path))
        inside = full + os.sep
        if inside.startswith(self.folder + os.sep) or full in ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero"):
            return
        if not writes and inside.startswith(self.readable):
            return
        self.paths.add(full)
        self.note(verb + " " + path)

    def caused(self, error: BaseException | None) -> bool:
        """Return whether an attempt raised an exception, or one of its causes."""
        seen = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if isinstance(error, OSError):
                name = error.filename
                if isinstance(name, str | bytes):
                    if os.path.normpath(os.path.join(self.folder, os.fsdecode(name))) in self.paths:
                        return True
                elif self.others:
                    return True
            error = error.__cause__ or error.__context__
        return False


def _opened(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    path, _, flags = (*args, None, None)[:3]
    writes = bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))
    watch.path("write" if writes else "open", path, writes)


def _listed(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    watch.path("list", args[0] if args and args[0] is not None else ".", False)


def _changed(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    for path in args[:2]:
        if isinstance(path, str | bytes):
            watch.path(event.partition(".")[2], path, True)


def _looked_up(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    watch.other("look up " + _plain(args[0][0] if isinstance(args[0], tuple) else args[0]))


def _socket_made(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    if int(args[1]) != 1:  # a pair of connected sockets, as asyncio makes it, reaches nothing else
        watch.other("open a socket")


def _network_used(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    address = args[1]
    if isinstance(address, tuple) and len(address) > 1:
        address = _plain(address[0]) + ":" + _plain(address[1])
    watch.other(event.partition(".")[2] + " " + _plain(address))


def _process(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    # With all their arguments: subprocess starts by os.posix_spawn from Python 3.13 on, which is the same attempt.
    what = args[_ARGUMENTS.get(event, 0)]
    if not isinstance(what, str | bytes):
        what = " ".join(_plain(one) for one in what)
    if args and isinstance(args[0], str | bytes):
        watch.paths.add(os.path.normpath(os.path.join(watch.folder, os.fsdecode(args[0]))))
    watch.other("run " + _plain(what))


def _loaded(watch: Watch, event: str, args: tuple[Any, ...]) -> None:
    if args[0] is not None:
        watch.other("load " + _plain(args[0]))


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return os.fsdecode(value)
    return str(value) if isinstance(value, str | int) or value is None else text_of(value, os.fspath)


#: Where the events of processes hold the arguments; the event of os.system holds a text.
_ARGUMENTS = {"subprocess.Popen": 1, "os.exec": 1, "os.posix_spawn": 1, "os.spawn": 2}

_EVENTS: dict[str, Callable[[Watch, str, tuple[Any, ...]], None]] = {
    event: note
    for note, events in (
        (_opened, "open"),
        (_listed, "os.listdir os.scandir"),
        (_changed, "os.remove os.rename os.rmdir os.mkdir os.link os.symlink os.truncate os.chmod os.chown os.utime"),
        (_looked_up, "socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr socket.getnameinfo"),
        (_socket_made, "socket.__new__"),
        (_network_used, "socket.connect socket.bind socket.sendto socket.sendmsg"),
        (_process, "subprocess.Popen os.system os.exec os.posix_spawn os.spawn"),
        (lambda watch, event, args: watch.other("fork"), "os.fork os.forkpty pty.spawn"),
        (lambda watch, event, args: watch.other("kill " + _plain(args[0])), "os.kill os.killpg"),
        (_loaded, "ctypes.dlopen"),
    )
    for event in events.split()
}
