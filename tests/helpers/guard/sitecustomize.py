"""Keeps a Python to loopback: whatever else a socket reaches for is refused before a packet is sent, and written down.

The tests' own process installs it; in every Python that a test starts it is installed by its name, since its folder
stands first on PYTHONPATH. It imports next to nothing, for the tests look at what a command imports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120

#: The variable that names the file which gets a line for each refusal, whichever process it happens in.
LOG = "LOOPBACK_ONLY_LOG"

#: The interpreter of the sandbox has no environment, and its children no sockets: tests/plugins/sandbox proves both.
_BEHIND_A_WALL = os.path.join("graphkit", "plugins", "sandbox", "inside", "warm.py")  # noqa: PTH118

_LOCAL = ("localhost", "localhost.", "ip6-localhost", "::1", "::", "0.0.0.0", "")


class RefusedError(OSError):
    """A test reached for something that isn't this machine."""


def is_local(host: object) -> bool:
    """Tell whether a host, by name or address, is this machine itself."""
    text = _text(host).lower()
    return text in _LOCAL or (text.startswith(("127.", "::ffff:127.")) and text[-1].isdigit())


def _text(host: object) -> str:
    if host is None:
        return ""
    return host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)


def _is_address(host: object) -> bool:
    return ":" in _text(host) or _text(host).replace(".", "").isdigit()


def _refuse(what: str) -> str:
    if os.environ.get(LOG):
        descriptor = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, f"process {os.getpid()}: {what}\n".encode("utf-8", "replace"))
        os.close(descriptor)
    return f"{what}: the tests reach loopback only"


def _to(socket: Any, address: Any) -> None:
    # What isn't a pair or longer is the path of a Unix socket.
    text = isinstance(address, tuple) and address and isinstance(address[0], str | bytes | bytearray)
    if text and not is_local(address[0]):
        raise RefusedError(_refuse(f"connection to {_text(address[0])}:{address[1] if len(address) > 1 else ''}"))


def _look_up(host: Any, *_: Any) -> None:
    # An address is looked up without asking anyone; who connects to it is refused then.
    if not is_local(host) and not _is_address(host):
        import socket

        raise socket.gaierror(socket.EAI_NONAME, _refuse(f"look-up of {_text(host)}"))


def _reverse(host: Any, *_: Any) -> None:
    if not is_local(host[0] if isinstance(host, tuple) else host):
        raise RefusedError(_refuse(f"look-up of {host}"))


def _start(executable: Any, arguments: Any, folder: Any, env: Mapping[str, str] | None) -> None:
    # A Python without the guard would be a hole in it.
    words = [arguments] if isinstance(arguments, str | bytes) else list(arguments)
    name = os.path.basename(os.fsdecode(executable or words[0]))  # noqa: PTH119
    if not name.startswith("python") or os.fsdecode(words[-1]).endswith(_BEHIND_A_WALL):
        return
    path = (os.environ if env is None else env).get("PYTHONPATH", "").split(os.pathsep)
    options = [word for word in map(os.fsdecode, words[1:2]) if word.startswith("-") and not word.startswith("--")]
    if FOLDER not in path or any(flag in option for option in options for flag in "IES"):
        raise RuntimeError(f"a test starts a Python without the guard of the network: {words[:4]}")


_CHECKS: Mapping[str, Callable[..., None]] = {
    "socket.connect": _to,
    "socket.sendto": _to,
    "socket.sendmsg": _to,
    "socket.getaddrinfo": _look_up,
    "socket.gethostbyname": _look_up,
    "socket.gethostbyaddr": _reverse,
    "socket.getnameinfo": _reverse,
    "subprocess.Popen": _start,
}


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    check = _CHECKS.get(event)
    if check is not None:
        check(*arguments)


def install() -> None:
    """Guard this process, for as long as it lives."""
    sys.addaudithook(_hook)


def guarded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a Python is guarded, too."""
    path = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part and part != FOLDER]
    log = {LOG: os.environ[LOG]} if LOG in os.environ else {}
    return {**environment, **log, "PYTHONPATH": os.pathsep.join([FOLDER, *path])}


if __name__ == "sitecustomize":
    install()
