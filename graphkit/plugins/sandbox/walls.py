"""The walls between the code of an answer and the machine: bubblewrap, or Landlock with seccomp."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.plugins.sandbox import seccomp
from graphkit.plugins.sandbox.executions import Mechanism
from graphkit.plugins.sandbox.hosts import INSIDE, interpreter
from graphkit.plugins.sandbox.limits import SandboxLimits

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


@dataclass(frozen=True)
class Wall:
    """A wall between code and the machine.

    ``start`` returns a context with the :class:`Start` of one warm interpreter, which removes its folder at the end. It
    raises an ImportError, an OSError or a RuntimeError if the machine lacks a requirement.
    """

    name: Mechanism
    start: Callable[[Sequence[Path], SandboxLimits], AbstractContextManager[Start]]


def _command(scripts: Path) -> tuple[str, ...]:
    return (str(interpreter()), *FLAGS, str(scripts / "warm.py"))


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


@contextmanager
def _bubblewrap(files: Sequence[Path], limits: SandboxLimits) -> Iterator[Start]:
    """Yield a start in namespaces, with seccomp behind them.

    The file system holds only the interpreter and a scratch folder in memory. There is no network and no other process.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise OSError("bubblewrap isn't installed (no program bwrap)")
    command = [
        *(program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        *(part for path in files for part in ("--ro-bind", str(path), str(path))),
        *("--ro-bind", str(INSIDE), "/inside", "--dev-bind", "/dev/null", "/dev/null"),
        *("--size", str(limits.disk), "--tmpfs", _SCRATCH, "--remount-ro", "/", "--chdir", _SCRATCH),
        *("--setenv", "PYTHONHASHSEED", "0", *_command(Path("/inside"))),
    ]
    with _processes() as processes:
        yield Start(command, _setup(_SCRATCH, "/inside", processes, None), (processes,))


@contextmanager
def _landlock(files: Sequence[Path], limits: SandboxLimits) -> Iterator[Start]:
    """Yield a start with Landlock for the files of the host, and seccomp for everything else; it needs no namespaces.

    The scratch folder is on disk, and the warm interpreter itself is outside the wall.
    """
    with _scratch() as scratch, _processes() as processes:
        ruleset = _ruleset(files, scratch)
        try:
            setup = _setup(str(scratch), str(INSIDE), processes, ruleset)
            yield Start(_command(INSIDE), setup, (ruleset, processes))
        finally:
            os.close(ruleset)


@contextmanager
def _no_wall(files: Sequence[Path], limits: SandboxLimits) -> Iterator[Start]:
    """Yield a start in a scratch folder, with nothing but limits: the code has all the user's permissions."""
    with _scratch() as scratch, _processes() as processes:
        yield Start(_command(INSIDE), _setup(str(scratch), str(INSIDE), processes, None, walled=False), (processes,))


#: The walls, in the order of trial.
WALLS = (Wall("bubblewrap", _bubblewrap), Wall("landlock", _landlock))
NO_WALL = Wall("none", _no_wall)


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


def _ruleset(files: Sequence[Path], scratch: Path) -> int:
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
            *((path, read) for path in files),
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
