"""Runs one test of an answer in Python, inside the sandbox. It needs nothing but the standard library.

:func:`serve` reads requests and sends replies, one line of JSON each. The first request is the job, and runs the code::

    id          repeated in the reply; graphkit draws a new one for each request
    files       relative path -> source, written to the current folder, the first to import from
    code        the answer's code
    entry_point the function to call, also "Class.method" (an instance is made without arguments); null: the code is a
                program
    stdin       the text of the standard input, or null
    holds       whether to hold values that can't leave as plain data here, for an assertion that runs elsewhere
    limit       the largest value, roughly in bytes

Each further request says what to ``do``: ``call`` calls the entry point with ``inputs`` (a list of arguments, an object
of them by name, or null), ``operate`` does one operation for an assertion (see python_holding.py), and ``end`` is the
last one. Arguments come only after the code has been loaded. Expected values and assertions never come.

A reply has the ``id`` of its request, its ``kind``, ``attempts``, and the fields of the kind:

    loaded             the code has run; the reply to the job, unless the code is a program
    returned           value: encoded as returned_values.py describes; in reply to a job, the output of the program
    raised             message, exception (the names of its type and its base types, most specific first), line (of the
                       code, from 1), error (if the job ``holds``)
    refused            as raised: by something that the code tried and the sandbox doesn't allow
    memory             message, line
    syntax_error       message, line: the answer's code can't be parsed
    no_entry_point     message
    too_large          message: the value is larger than the limit
    missing            the code has no such name
    ended              the last reply

Nothing in a reply can be trusted, since the code can do whatever this module does. So no reply says whether a test
passed.

The imports at the top are loaded when Python starts anyway: importing this module takes a millisecond.
"""

from __future__ import annotations

import builtins
import io
import os
import sys

from python_attempts import Watch
from python_common import Channel, home_of, message_of, type_name
from python_holding import Holding, MissingError, wait_for
from python_values import Endless, TooLargeError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from types import CodeType, ModuleType
    from typing import Any


_ANSWER = "answer.py"

#: Memory to free when the code has left none for the reply; allocated before the fork, so that it costs no time.
_BALLAST = [bytearray(1 << 20)]


def serve(requests: int, replies: int) -> None:
    """Answer requests until the last one."""
    channel = Channel(requests, replies)
    job = channel.receive()
    if job is None:
        return
    _bound_recursion()
    test = _Test(job)
    request: dict[str, Any] | None = job
    while request is not None:
        reply = _reply_to(test, request)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:  # the code closed it, or its reader is gone
                pass
        channel.send({**reply, "id": request["id"], "attempts": list(test.watch.attempts)})
        if request.get("do") == "end":
            return
        request = channel.receive()


def _reply_to(test: _Test, request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request; nothing in the code makes this raise."""
    try:
        return test.reply(request)
    except MemoryError:
        _BALLAST.clear()
        return {"kind": "memory", "message": "there was no memory left", "line": None}
    except BaseException as error:  # the code may have broken the interpreter
        return {"kind": "raised", "message": message_of(error), "exception": _names(error), "line": None}
    finally:
        _restore()


class _Test:
    """The answer's code, and the requests to it."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.watch = Watch()
        self.holding = Holding(job["limit"], job["files"]) if job["holds"] else None

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        what = request.get("do")
        if what == "end":
            return {"kind": "ended"}
        try:
            if what is None:
                return self._load()
            if what == "call":
                return self._returned(_called(self.module, self.job, request["inputs"]))
            assert self.holding is not None
            return {"kind": "returned", "value": self.holding.operate(request, self.module.__dict__)}
        except _UnreadableError as error:
            message, line = error.args
            return {"kind": "syntax_error", "message": message, "line": line}
        except _NoEntryPointError as error:
            return {"kind": "no_entry_point", "message": str(error)}
        except MissingError:
            return {"kind": "missing"}
        except TooLargeError:
            return {"kind": "too_large", "message": "the result has more than " + str(self.job["limit"]) + " bytes"}
        except BaseException as error:
            return self._ended_by(error)

    def _load(self) -> dict[str, Any]:
        job = self.job
        lay_out(job["files"])
        printed = None
        if job["entry_point"] is None:
            printed = _Printed(job["limit"])
            sys.stdout = io.TextIOWrapper(
                io.BufferedWriter(printed), encoding="utf-8", errors="replace", line_buffering=True
            )
        read_from(job["stdin"] or "")
        code = _compiled(job["code"])
        self.module = _module("answer" if job["entry_point"] else "__main__")
        self.watch.start()
        value = _loaded(code, self.module, printed)
        return {"kind": "loaded"} if printed is None else self._returned(value)

    def _returned(self, value: Any) -> dict[str, Any]:
        _restore()
        if self.holding is not None:
            return {"kind": "returned", "value": self.holding.encode(value)}
        # This runs a generator, which may raise.
        return {"kind": "returned", "value": encode(value, self.job["limit"])}

    def _ended_by(self, error: BaseException) -> dict[str, Any]:
        _restore()
        reply = _ended_by(error, self.watch)
        if self.holding is not None and reply["kind"] != "memory":
            reply["error"] = self.holding.error(error)
        return reply


#: Python's built-in functions before the code replaces any.
_BUILTINS = dict(builtins.__dict__)


def _restore() -> None:
    builtins.__dict__.update(_BUILTINS)
    _set_recursion_limit(1_000)


_set_recursion_limit = sys.setrecursionlimit


def _bound_recursion() -> None:
    """Let the limit of recursion hold under Python 3.13, too.

    Its specialised call of a function with defaults or variable arguments doesn't look at the limit, so an endless
    recursion ends without memory. Calls that are monitored aren't specialised; without a callback they cost little.
    """
    if sys.version_info[:2] == (3, 13):
        sys.monitoring.use_tool_id(4, "graphkit")
        sys.monitoring.set_events(4, sys.monitoring.events.CALL)


# --- Before ---------------------------------------------------------------------------------------------------------


def lay_out(files: dict[str, str]) -> None:
    """Write the stand-ins, and make the current folder the first to import from."""
    folder = os.getcwd()
    for path, source in files.items():
        parent = os.path.dirname(path)
        if parent:
            os.makedirs(parent, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(source)
        # A stand-in replaces a module that the sandbox itself has loaded under that name.
        _kept_alive.append(sys.modules.pop(path.partition("/")[0].removesuffix(".py"), None))
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    sys.path_importer_cache.pop(folder, None)
    sys.argv = [_ANSWER]


def read_from(text: str) -> None:
    """Make a text the standard input, also of ``open(0)``."""
    name = ".stdin"
    with open(name, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
    descriptor = os.open(name, os.O_RDONLY)
    os.unlink(name)
    if descriptor != 0:
        os.dup2(descriptor, 0)
        os.close(descriptor)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8", errors="replace")


class _Printed(io.RawIOBase):
    """The standard output, which keeps the beginning of the text."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kept = bytearray()
        self.cut = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data: Any) -> int:
        data = bytes(data)
        room = self.limit - len(self.kept)
        self.kept += data[:room]
        self.cut = self.cut or len(data) > room
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(1, rest) :]
        return len(data)


class _UnreadableError(Exception):
    """The answer's code can't be compiled; the message and the line."""


def _compiled(source: str) -> CodeType:
    import linecache

    linecache.cache[_ANSWER] = (len(source), None, source.splitlines(True), _ANSWER)
    try:
        return compile(source, _ANSWER, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise _UnreadableError(type(error).__name__ + ": " + str(error.msg), error.lineno) from None
    except (ValueError, OverflowError, UnicodeError) as error:
        raise _UnreadableError(message_of(error), None) from None
    except (MemoryError, RecursionError):
        raise _UnreadableError("SyntaxError: the code is nested too deeply", None) from None


#: Modules that the code replaces by name stay alive here.
_kept_alive: list[Any] = []


def _module(name: str) -> ModuleType:
    module = type(sys)(name)
    module.__file__ = _ANSWER
    module.__dict__["__builtins__"] = builtins
    _kept_alive.append(sys.modules.get(name))
    sys.modules[name] = module
    return module


# --- The code -------------------------------------------------------------------------------------------------------


class _NoEntryPointError(Exception):
    """The code doesn't define the entry point."""


def _loaded(code: CodeType, module: ModuleType, printed: _Printed | None) -> Any:
    """Run the code, and return the output of a program."""
    stdout = sys.stdout
    try:
        exec(code, module.__dict__)
    except SystemExit as error:
        # A program may end like this; its exit code says whether it succeeded.
        if printed is None or error.code not in (None, 0):
            raise
    if printed is None:
        return None
    threading = sys.modules.get("threading")
    for thread in threading.enumerate() if threading is not None else ():  # a program ends when its threads have
        if thread is not threading.current_thread() and not thread.daemon:  # type: ignore[union-attr]
            thread.join()
    if not stdout.closed:
        stdout.flush()
    return Endless() if printed.cut else printed.kept.decode("utf-8", "replace")


def _called(module: ModuleType, job: dict[str, Any], inputs: Any) -> Any:
    """Call the entry point, and return its result."""
    function = _entry_point(module, job["entry_point"])
    value = function(**inputs) if isinstance(inputs, dict) else function(*(inputs or ()))
    if hasattr(type(value), "__await__"):
        return wait_for(value)
    if hasattr(type(value), "__anext__") and not job["holds"]:
        return wait_for(_gathered(value, job["limit"]))
    return value


async def _gathered(value: AsyncIterator[Any], limit: int) -> Any:
    found = []
    async for item in value:
        found.append(item)
        if len(found) > limit:
            return Endless()
    return found


def _entry_point(module: ModuleType, name: str) -> Callable[..., Any]:
    found = module
    missing = _NoEntryPointError("the code defines no " + name)
    for part in name.split("."):
        if isinstance(found, type) and type(found.__dict__.get(part)) is type(_entry_point):
            found = found()
        try:
            found = getattr(found, part)
        except AttributeError:
            raise missing from None
    if not callable(found):
        raise _NoEntryPointError(name + " isn't a function")
    return found


# --- How it ended ---------------------------------------------------------------------------------------------------


def _ended_by(error: BaseException, watch: Watch) -> dict[str, Any]:
    """Return the reply for code that raised an exception."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == 12):  # ENOMEM
        line, _ = _place(error)
        error.__traceback__ = error.__context__ = None  # their frames hold the memory
        return {"kind": "memory", "message": message_of(error), "line": line}
    line, module = _place(error)
    message = message_of(error)
    if module:
        message += " (in " + module + ")"
    kind = "refused" if watch.caused(error) else "raised"
    return {"kind": kind, "message": message, "exception": _names(error), "line": line}


def _place(error: BaseException) -> tuple[int | None, str | None]:
    """Return the innermost line of the answer, and the stand-in (if any) that raised the exception."""
    line = module = None
    if isinstance(error, SyntaxError) and error.filename and os.path.isabs(str(error.filename)):
        module = _stand_in(str(error.filename), error.lineno)
    folder = _folder()
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name == _ANSWER:
            line = trace.tb_lineno
            module = module if isinstance(error, SyntaxError) else None
        elif name.startswith(folder):
            module = _stand_in(name, trace.tb_lineno) or module
        trace = trace.tb_next
    return line, module


def _folder() -> str:
    return sys.path[0] + os.sep if sys.path and isinstance(sys.path[0], str) else os.sep


def _stand_in(path: str, line: int | None) -> str | None:
    folder = _folder()
    if not path.startswith(folder):
        return None
    name = path[len(folder) :].removesuffix(".py").removesuffix(os.sep + "__init__").replace(os.sep, ".")
    return name + ", line " + str(line)


def _names(error: BaseException) -> list[str]:
    """Return the names of an exception's type and its base types: each short, and with its module."""
    found = []
    for one in type.__dict__["__mro__"].__get__(type(error)):
        if one is object:
            continue
        name = type_name(one)
        module = home_of(one)
        for text in (name.rpartition(".")[2], name, name if module == "builtins" else module + "." + name):
            if text not in found:
                found.append(text)
    return found[:100]
