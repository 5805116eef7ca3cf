"""No test reaches a paid service, nor anything else beyond this machine: neither the suite nor what it starts."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphkit.database.settings import Settings
from tests.helpers import ROOT
from tests.helpers.cli import Process, environment, tiny
from tests.helpers.engines import SETTINGS_PREFIXES, child_environment
from tests.helpers.guard.sitecustomize import LOG, RefusedError, is_local

#: The command line whose client of a model tries twice: eight attempts with their pauses take a minute.
TWICE = (
    sys.executable,
    "-c",
    "from graphkit.plugins.judging.llm.api_client import ApiClient\n"
    "ApiClient.__init__.__kwdefaults__['attempts'] = 2\n"
    "from graphkit.cli import main\n"
    "main()",
)

Refused = Callable[[], list[str]]

#: An address that belongs to nobody (TEST-NET-1): what was sent to it by mistake would reach no one.
ELSEWHERE = "192.0.2.1"


def attempts(lines: list[str]) -> list[str]:
    """Return what was refused, without the process that tried."""
    return [line.partition(": ")[2] for line in lines]


def by_tcp() -> None:
    """Connect as most clients do."""
    socket.create_connection((ELSEWHERE, 443), timeout=5)


def by_tcp_without_error() -> None:
    """Connect by the call that returns its error."""
    with socket.socket() as opened:
        opened.connect_ex((ELSEWHERE, 443))


def by_udp() -> None:
    """Send a datagram, which needs no connection."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"x", (ELSEWHERE, 443))


def by_udp_to_bytes() -> None:
    """Connect to an address as bytes that can be changed, which a socket takes, too."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.connect((bytearray(ELSEWHERE.encode()), 443))


def by_asyncio() -> None:
    """Connect as the asynchronous clients do."""
    asyncio.run(asyncio.wait_for(asyncio.open_connection(ELSEWHERE, 443), 5))


@pytest.mark.parametrize("reach", [by_tcp, by_tcp_without_error, by_udp, by_udp_to_bytes, by_asyncio])
def test_an_address_elsewhere_is_refused(reach: Callable[[], None], refused: Refused) -> None:
    """Whichever way a socket reaches for another machine, it is refused before a packet is sent, and written down."""
    with pytest.raises(OSError, match="loopback only") as caught:
        reach()
    # A process of several that run the tests has the guard under the name by which Python loads it at its start.
    assert type(caught.value).__name__ == RefusedError.__name__
    assert attempts(refused()) == [f"connection to {ELSEWHERE}:443"]


def test_a_name_elsewhere_is_refused(refused: Refused) -> None:
    """Names aren't looked up either: a look-up is sent to a server of names, and tells it what is asked for."""
    for look_up in (lambda: socket.getaddrinfo("api.anthropic.com", 443), lambda: socket.gethostbyname("pypi.org")):
        with pytest.raises(socket.gaierror, match="loopback only"):
            look_up()
    assert attempts(refused()) == ["look-up of api.anthropic.com", "look-up of pypi.org"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1", "", None, b"127.0.0.1"])
def test_this_machine_is_reached(host: str | bytes | None) -> None:
    """Loopback is this machine, by each of its names."""
    assert is_local(host)


@pytest.mark.parametrize(
    "host", ["192.0.2.1", "10.0.0.1", "127.evil.example", "localhost.example", "::2", "2001:db8::1"]
)
def test_another_machine_is_not(host: str) -> None:
    """An address that only looks like loopback is refused, and so is a private network."""
    assert not is_local(host)


@pytest.mark.slow("processes of their own, whose connections are refused")
def test_a_command_is_refused(process: Process, tmp_path: Path, refused: Refused) -> None:
    """A command in a process of its own that asks a model elsewhere, by address or by name, gets no packet out."""
    run = tiny(tmp_path)
    for address, attempt in (
        (f"http://{ELSEWHERE}:443", f"connection to {ELSEWHERE}:443"),
        ("https://api.anthropic.com", "look-up of api.anthropic.com"),
    ):
        env = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": address}
        out = run.parent / address.partition("//")[2].partition(":")[0]
        done = process("run", tmp_path, "--condition", "training", "-o", out, cwd=tmp_path, env=env, command=TWICE)
        assert "error" in next(out.glob("*.jsonl")).read_text(), done.err
        lines = refused()
        assert set(attempts(lines)) == {attempt}
        assert f"process {os.getpid()}:" not in "".join(lines)


def test_an_unguarded_python_is_not_started() -> None:
    """A test can't start a Python that has no guard, be it by the environment or by an option."""
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for options, env in (([], bare), (["-I"], environment()), (["-E"], environment()), (["-S"], environment())):
        with pytest.raises(RuntimeError, match="without the guard"):
            subprocess.run([sys.executable, *options, "-c", ""], env=env, check=False)


def test_what_is_started_is_this_checkout(tmp_path: Path) -> None:
    """A command that a test starts runs the code beside the test, whichever checkout is installed."""
    for env in (environment(), environment(child_environment(Settings(data=tmp_path)))):
        program = "import graphkit; print(graphkit.__file__)"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=env, cwd=tmp_path, check=True
        )
        assert Path(done.stdout.strip()) == ROOT / "graphkit" / "__init__.py"


def test_no_key_of_the_machine_is_seen() -> None:
    """Neither tests nor what they start see keys and addresses of services that the suite was started with."""
    for seen in (os.environ, environment()):
        assert not [name for name in seen if name.startswith(SETTINGS_PREFIXES)]


def test_a_swallowed_refusal_fails_its_test(tmp_path: Path) -> None:
    """A test whose code catches the refusal fails all the same, and another doesn't."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import _clean_environment, refused\n")
    (tmp_path / "test_it.py").write_text(
        "import contextlib, socket\n"
        "def test_reaches():\n"
        "    with contextlib.suppress(OSError):\n"
        f"        socket.create_connection(('{ELSEWHERE}', 443))\n"
        "def test_stays():\n"
        "    socket.getaddrinfo('localhost', 80)\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    env = {name: value for name, value in environment().items() if name != LOG}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert "reached beyond loopback: process" in done.stdout
    assert f"connection to {ELSEWHERE}:443" in done.stdout
