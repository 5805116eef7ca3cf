"""The walls between the code of an answer and the machine: bubblewrap, or Landlock with seccomp."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from graphkit.execution import seccomp
from graphkit.execution.hosts import INSIDE, HostFiles
from graphkit.execution.limits import SandboxLimits
from graphkit.records.executions import Mechanism

#: The options of the interpreter, which ignore the user's settings, packages and caches.
FLAGS = ("-s", "-S", "-P", "-B", "-X", "utf8")

#: The scratch folder in a namespace; no answer expects one of this name.
_SCRATCH = "/graphkit-scratch"


@dataclass(frozen=True)
class Start:
    """The command, the first frame, and the inherited descriptors of a warm interpreter behind a wall."""

    command: Sequence[str]
    setup: dict[str, Any]
    descriptors: Sequence[int] = ()


class Wall(Protocol):
    """A wall between code and the machine."""

    @property
    def name(self) -> Mechanism:
        """Return the name in records."""
        ...

    def start(self, files: HostFiles, limits: SandboxLimits) -> Any:
        """Return a context with the :class:`Start` of one warm interpreter, which removes its folder at the end.

        Raise an ImportError, an OSError or a RuntimeError if the machine lacks a requirement.
        """
        ...


def _setup(scratch: str, scripts: str, processes: int, landlock: int | None, walled: bool = True) -> dict[str, Any]:
    filters = (
        {"python": seccomp.program(False), "program": seccomp.program(True), "mapping": seccomp.mapping()}
        if walled
        else {}
    )
    return {
        "scratch": scratch,
        "inside": scripts,
        "processes": processes,
        "landlock": landlock,
        "seccomp": {name: code.hex() for name, code in filters.items()},
        "wall": walled,
    }


class Bubblewrap:
    """Namespaces by bubblewrap: another file system, no network, no other process; seccomp behind it."""

    name: Mechanism = "bubblewrap"

    @contextmanager
    def start(self, files: HostFiles, limits: SandboxLimits) -> Iterator[Start]:
        """Yield a start in a file system with only the interpreter and a scratch folder in memory."""
        program = shutil.which("bwrap")
        if program is None:
            raise OSError("bubblewrap isn't installed (no program bwrap)")
        command = [
            *(program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
            *(part for path in files.readable for part in ("--ro-bind", str(path), str(path))),
            *("--ro-bind", str(INSIDE), "/inside", "--dev-bind", "/dev/null", "/dev/null"),
            *("--size", str(limits.disk), "--tmpfs", _SCRATCH, "--remount-ro", "/", "--chdir", _SCRATCH),
            *("--setenv", "PYTHONHASHSEED", "0", str(files.python), *FLAGS, "/inside/warm.py"),
        ]
        with _processes() as processes:
            yield Start(command, _setup(_SCRATCH, "/inside", processes, None), (processes,))


class Landlock:
    """Landlock for the files of the host, seccomp for everything else; it needs no namespaces."""

    name: Mechanism = "landlock"

    @contextmanager
    def start(self, files: HostFiles, limits: SandboxLimits) -> Iterator[Start]:
        """Yield a start with a scratch folder on disk; the warm interpreter itself is outside the wall."""
        with _scratch() as scratch, _processes() as processes:
            ruleset = _ruleset(files, scratch)
            try:
                command = [str(files.python), *FLAGS, str(INSIDE / "warm.py")]
                setup = _setup(str(scratch), str(INSIDE), processes, ruleset)
                yield Start(command, setup, (ruleset, processes))
            finally:
                os.close(ruleset)


class NoWall:
    """Nothing but limits: the code has all the user's permissions."""

    name: Mechanism = "none"

    @contextmanager
    def start(self, files: HostFiles, limits: SandboxLimits) -> Iterator[Start]:
        """Yield a start in a scratch folder."""
        with _scratch() as scratch, _processes() as processes:
            command = [str(files.python), *FLAGS, str(INSIDE / "warm.py")]
            setup = _setup(str(scratch), str(INSIDE), processes, None, walled=False)
            yield Start(command, setup, (processes,))


#: The walls, in the order of trial.
WALLS: tuple[Wall, ...] = (Bubblewrap(), Landlock())


@contextmanager
def _scratch() -> Iterator[Path]:
    # If graphkit is killed, the interpreter inside removes the folder.
    folder = Path(tempfile.mkdtemp(prefix="graphkit-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _processes() -> Iterator[int]:
    """Yield a descriptor of /proc, with which the warm interpreter watches its children."""
    opened = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield opened
    finally:
        os.close(opened)


def _ruleset(files: HostFiles, scratch: Path) -> int:
    """Return a ruleset that allows reading and executing the interpreter's files, and using the scratch folder."""
    from py_landlock import AccessFs, PathBeneathAttr, RulesetAttr, add_rule, create_ruleset, get_abi_version
    from py_landlock.abi import get_supported_fs, get_supported_net, get_supported_scope
    from py_landlock.errors import LandlockError

    try:
        version = get_abi_version()
    except LandlockError as error:
        raise OSError(str(error)) from None
    every = get_supported_fs(version)
    ruleset = create_ruleset(RulesetAttr(every, get_supported_net(version), get_supported_scope(version)))
    read = AccessFs.READ_FILE | AccessFs.READ_DIR | AccessFs.EXECUTE
    use = every & ~(
        AccessFs.EXECUTE
        | AccessFs.MAKE_CHAR
        | AccessFs.MAKE_BLOCK
        | AccessFs.MAKE_SOCK
        | AccessFs.MAKE_FIFO
        | AccessFs.IOCTL_DEV
    )
    null = Path(os.devnull)
    of_file = AccessFs.READ_FILE | AccessFs.WRITE_FILE | AccessFs.EXECUTE
    try:
        for path, allowed in (
            *((path, read) for path in files.readable),
            (scratch, use),
            (INSIDE, read),
            (null, use),
        ):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                add_rule(ruleset, PathBeneathAttr(allowed if path.is_dir() else allowed & of_file, opened))
            finally:
                os.close(opened)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset
