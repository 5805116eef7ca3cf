"""Work on many shards: in order, bounded, repeated where a worker dies, and reused where it was done before."""

from __future__ import annotations

import contextlib
import pickle
import re
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

from graphkit.errors import GraphkitError, InputError
from graphkit.records.progress import Progress, quiet
from graphkit.records.secrets import masked_message
from graphkit.shards.executors import EndedExecutorError, workers_of
from graphkit.shards.locations import Location

T = TypeVar("T")
X = TypeVar("X")
A = TypeVar("A", bound="_Attempts[Any] | None")

#: How often a task is tried whose worker dies each time.
ATTEMPTS = 8

#: The number of tasks in progress for each worker. Their results wait for their turn in files, so they may be many.
AHEAD = 8

#: The longest pause before another attempt, in seconds; the first one has none.
LONGEST_PAUSE = 5.0

_BLOCK = 1 << 20

#: The ending of the parts that a command reuses when it is run again.
SCORED = ".part"


class LostWorkError(GraphkitError):
    """A task whose worker died at every attempt (exit code 2)."""


@dataclass(frozen=True)
class ShardTask:
    """The work on one shard.

    Parameters
    ----------
    key
        A digest of everything that decides the part, as :func:`key_of` returns it: inputs, options and versions, and
        never the executor. Parts are reused by it.
    argument
        What the function gets; it can be pickled, and is small.
    name
        The shard as messages name it.
    """

    key: str
    argument: Any
    name: str = ""


def key_of(*parts: object) -> str:
    """Return a digest of the representations of some values, the same in every process.

    >>> key_of("questions.jsonl", 12, ("RR",)) == key_of("questions.jsonl", 12, ("RR",))
    True
    """
    digest = blake2b(digest_size=16)
    for part in parts:
        text = repr(part).encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()


def in_order(
    executor: Executor,
    function: Callable[[Any], T],
    tasks: Iterable[tuple[str, Any]],
    *,
    say: Callable[[str], None] = lambda message: None,
) -> Iterator[T]:
    """Yield the result of a function for each task in their order, with a bounded number of them in progress.

    Parameters
    ----------
    function
        Runs in the workers; it and its results can be pickled.
    tasks
        The name of each task in messages, and the argument of the function.
    say
        Receives a sentence for each task that is repeated.

    Raises
    ------
    LostWorkError
        The worker of a task died at each of ``ATTEMPTS`` attempts.
    InputError
        A task, or what the function returned, can't be pickled; it isn't repeated.
    Exception
        What the function itself raised: at once, and not repeated.
    """

    def begun(task: tuple[str, Any]) -> _Attempts[T]:
        return _Attempts(executor, function, *task)

    for _, attempts in _ahead(tasks, begun, executor):
        yield attempts.result(say)


def _ahead(given: Iterable[X], begun: Callable[[X], A], executor: Executor) -> Iterator[tuple[X, A]]:
    """Yield each given thing with what has begun for it, in order, with a bounded number of them under way."""
    under_way: deque[tuple[X, A]] = deque()
    rest = iter(given)
    most = AHEAD * workers_of(executor)
    try:
        while True:
            # What is done needs nothing to be begun: an executor that runs tasks at once gets them one by one.
            while len(under_way) < most and not (under_way and _is_done(under_way[0][1])):
                try:
                    one = next(rest)
                except StopIteration:
                    most = 0
                    break
                under_way.append((one, begun(one)))
            if not under_way:
                return
            yield under_way.popleft()
    finally:
        for _, attempts in under_way:
            if attempts is not None:
                attempts.cancel()


def _is_done(attempts: _Attempts[Any] | None) -> bool:
    return attempts is None or attempts.is_done()


class _Attempts(Generic[T]):
    """The attempts at one task."""

    def __init__(self, executor: Executor, function: Callable[[Any], T], name: str, argument: Any) -> None:
        self._executor = executor
        self._call = function, argument
        self._name = name
        self._lost = 0
        self._begin()

    def _begin(self) -> None:
        self._future: Future[_Returned[T]] = Future()
        try:
            self._future = self._executor.submit(_guarded, *self._call)
        except Exception as error:  # the executor refuses: its connection is gone, or it broke
            self._future.set_exception(error)

    def is_done(self) -> bool:
        return self._future.done()

    def cancel(self) -> None:
        self._future.cancel()

    def result(self, say: Callable[[str], None]) -> T:
        while True:
            try:
                outcome = self._future.result()
                break
            except (GraphkitError, EndedExecutorError):
                raise
            except Exception as error:
                # An error of the function is an outcome, so this is one of the executor: the worker is gone, unless
                # it can't send the task or what the function returned, which no attempt changes.
                if _is_of_pickling(error):
                    raise not_pickled(error, self._name) from error
                self._again(error, say)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value  # type: ignore[return-value] # there is no error, so there is a value

    def _again(self, error: Exception, say: Callable[[str], None]) -> None:
        self._lost += 1
        sentence = re.split(r"(?<=[.!])\s|\n", str(error).strip())[0].rstrip(".")
        reason = masked_message(sentence) or type(error).__name__
        if self._lost == ATTEMPTS:
            raise LostWorkError(
                f"the worker of this shard was lost at each of {ATTEMPTS} attempts; the last time: {reason}",
                where=self._name or None,
                remedy="See what ends the workers: their memory, or the shard itself. Then run the command again: it "
                "reuses what is finished.",
            ) from error
        say(f"{self._name or 'a task'}: its worker was lost ({reason}); attempt {self._lost + 1} of {ATTEMPTS}")
        time.sleep(min(LONGEST_PAUSE, 0.1 * (2**self._lost - 2)))
        self._begin()


#: What the standard library, Dask and Ray raise for a value that can't be sent to another process.
PICKLING = pickle.PicklingError, AttributeError, TypeError


def _is_of_pickling(error: Exception) -> bool:
    words = str(error).casefold()
    return isinstance(error, pickle.PicklingError) or (
        isinstance(error, PICKLING) and ("pickle" in words or "serialize" in words)
    )


def not_pickled(error: Exception, name: str) -> InputError:
    """Return the error that a value can't be sent to another process; ``name`` is the shard, or empty."""
    reason = masked_message(str(error).strip().partition("\n")[0].rstrip(".")) or type(error).__name__
    return InputError(
        f"the work can't be sent to another process: {reason}",
        where=name or None,
        remedy="Define the function or measure at the top of a module, and keep no lock, open file, connection or "
        "function in it.",
    )


@dataclass
class _Returned(Generic[T]):
    """The value that a function returned in a worker, or the error that it raised."""

    value: T | None = None
    error: Exception | None = None


def _guarded(function: Callable[[Any], T], argument: Any) -> _Returned[T]:
    """Call a function in a worker; its errors are outcomes, so that only the loss of a worker is an exception."""
    try:
        return _Returned(function(argument))
    except Exception as error:
        return _Returned(error=_sendable(error))


def _sendable(error: Exception) -> Exception:
    """Return an error that can be pickled, with the traceback of the worker as a note if it is no error of input."""
    if not isinstance(error, GraphkitError):
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)))
    with contextlib.suppress(Exception):
        if type(pickle.loads(pickle.dumps(error))) is type(error):  # noqa: S301 - dumped on the same line
            return error
    return RuntimeError("".join(traceback.format_exception(error)))


# Parts --------------------------------------------------------------------------------------------------------------


def finished_parts(
    executor: Executor,
    function: Callable[[Any, Path], None],
    tasks: Iterable[ShardTask],
    folder: Location,
    *,
    suffix: str = SCORED,
    progress: Progress = quiet,
    say: Callable[[str], None] = lambda message: None,
) -> Iterator[Path]:
    """Yield the part of each task in their order as a file of this machine, which may be gone after the next one.

    A part is a file ``KEY-DIGEST.part`` in the folder: the digest is that of its bytes. One that is there already and
    whose digest holds isn't made again.

    Parameters
    ----------
    function
        Gets the argument of a task and a path of the worker's machine where it writes the part.
    folder
        Where the parts are kept. All workers reach it.
    suffix
        The ending of a part's name.
    progress
        Receives ``("shards", 1)`` for each part.
    say
        Receives a sentence for each task that is repeated and for each part that is damaged.

    Raises
    ------
    LostWorkError
        The worker of a task died at each of ``ATTEMPTS`` attempts.
    InputError
        The folder can't be used, or isn't the same for this process and the workers; or a task can't be pickled.
    Exception
        What the function itself raised: at once, and not repeated.
    """
    known = {each.name.partition("-")[0]: each for each in folder.files() if each.name.endswith(suffix)}

    def begun(task: ShardTask) -> _Attempts[str] | None:
        return None if task.key in known else making(task)

    def making(task: ShardTask) -> _Attempts[str]:
        return _Attempts(executor, _make, task.name, (function, task.argument, folder, task.key, suffix))

    for task, attempts in _ahead(tasks, begun, executor):
        for _ in range(ATTEMPTS):
            part = known[task.key] if attempts is None else folder.child(attempts.result(say))
            with _intact(part, suffix, made=attempts is not None) as path:
                if path is not None:
                    yield path
                    break
            say(f"{part}: the part is damaged; it is made again")
            part.remove()
            attempts = making(task)
        else:
            raise InputError(
                "a part is damaged each time that it is made",
                where=str(folder),
                remedy="Check the disk or the service, and run the command again.",
            )
        progress("shards", 1)


def _make(work: tuple[Callable[[Any, Path], None], Any, Location, str, str]) -> str:
    """Make a part in a worker, and return its name."""
    function, argument, folder, key, suffix = work
    with folder.staging() as staging:
        made = staging / f"part{suffix}"
        function(argument, made)
        name = f"{key}-{_digest(made)}{suffix}"
        folder.put(made, name)
    return name


@contextmanager
def _intact(part: Location, suffix: str, *, made: bool) -> Iterator[Path | None]:
    """Yield a part as a file of this machine, or None if it is damaged.

    One that was made just now in a local folder isn't read again.
    """
    if part.path is not None and not part.path.is_file():
        if made:
            raise InputError(
                "the workers write to a folder that isn't this one",
                where=str(part),
                remedy="Name a folder that all machines share, or a URL such as s3://BUCKET/FOLDER.",
            )
        yield None
        return
    with part.local_copy() as path:
        written = part.name.removesuffix(suffix).partition("-")[2]
        yield path if (made and part.path is not None) or _digest(path) == written else None


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=20)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
