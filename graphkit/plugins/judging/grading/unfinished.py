"""Opinions of judges that ask no model, kept as they come until a judging ends: a killed one continues from there.

Replies of models are kept for good, by :mod:`graphkit.plugins.judging.llm.cache`. A function of the user's may answer
otherwise tomorrow, so its opinions are forgotten when the judging that asked for them has kept its verdicts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from graphkit.errors import InputError
from graphkit.files.grades_beside import file_beside
from graphkit.plugins.judging.judges.callable_judge import CallableJudge
from graphkit.plugins.judging.judges.contract import Judge, Opinion, effort_of, model_of
from graphkit.plugins.judging.judges.known_judges import LEXICAL
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.records.secrets import masked

#: The ending of the names of files of opinions beside runs.
UNFINISHED = ".unfinished"

#: The calls of a worker to the driver, which has the file.
OPINION, KEEP_OPINION = "opinion", "keep_opinion"


class KeptOpinions(Protocol):
    """The texts of opinions by the digest of what was asked."""

    async def get(self, digest: str) -> str | None:
        """Return an opinion that an earlier judging got; None if there is none."""
        ...

    async def put(self, digest: str, text: str) -> None:
        """Keep an opinion."""
        ...


class OpinionFile:
    """The opinions in a file, a line each: a killed process loses none that it has put.

    Raise an InputError if the file can't be used. It is created with its first opinion.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, str] = {}
        with _explained(path), suppress(FileNotFoundError):
            for line in path.read_bytes().splitlines():
                with suppress(ValueError, TypeError):  # a line that a full disk has cut off
                    digest, text = json.loads(line)
                    self._known[digest] = text

    async def get(self, digest: str) -> str | None:
        """Return an opinion that the file held when it was opened; None if there is none."""
        return self._known.get(digest)

    async def put(self, digest: str, text: str) -> None:
        """Append an opinion, behind a line break: the line before may be cut off."""
        with _explained(self.path):
            self.path.parent.mkdir(exist_ok=True)
            with self.path.open("ab", buffering=0) as stream:
                stream.write(f"\n{masked(json.dumps([digest, text]))}".encode())


@dataclass(frozen=True)
class RemoteOpinions:
    """A worker's side: the opinions in the driver's file."""

    send: Callable[[str, Any], Future[Any]]

    async def get(self, digest: str) -> str | None:
        """Return an opinion that an earlier judging got; None if there is none."""
        found: str | None = await asyncio.wrap_future(self.send(OPINION, digest))
        return found

    async def put(self, digest: str, text: str) -> None:
        """Have the driver keep an opinion."""
        await asyncio.wrap_future(self.send(KEEP_OPINION, [digest, text]))


@dataclass(frozen=True)
class ContinuedJudge:
    """A judge whose kept opinions aren't asked for again; an exception isn't kept."""

    asked: Judge
    kept: KeptOpinions

    @property
    def name(self) -> str:
        """The name of the judge."""
        return self.asked.name

    @property
    def version(self) -> str | None:
        """The version of the judge."""
        return self.asked.version

    @property
    def model_name(self) -> str | None:
        """The model that the judge asks for."""
        return model_of(self.asked)

    @property
    def effort(self) -> str | None:
        """The effort with which the judge lets its model think."""
        return effort_of(self.asked)

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the kept opinion, or that of the judge, which is kept before anybody reads it."""
        digest = _digest(self.asked, prompt, schema)
        if (text := await self.kept.get(digest)) is not None:
            return Opinion(text, cached=True)
        opinion = await self.asked.judge(prompt, schema)
        await self.kept.put(digest, opinion.text)
        return opinion


def _digest(judge: Judge, prompt: Prompt, schema: Mapping[str, Any]) -> str:
    """Return the hash of all that decides an opinion: the judge with its code, the question, the prompt and the try."""
    about = prompt.materials
    asked = [judge.name, judge.version, _code(judge), about.run, about.question_id, prompt.trial]
    whole = json.dumps([*asked, prompt.text, prompt.unusable, schema], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _code(judge: Judge) -> str | None:
    """Return the hash of the module that holds a judge; None if it has no file."""
    made = judge.call if isinstance(judge, CallableJudge) else type(judge)
    path = getattr(sys.modules.get(getattr(made, "__module__", None) or ""), "__file__", None)
    with suppress(OSError, TypeError):
        return hashlib.sha256(Path(path or "").read_bytes()).hexdigest()
    return None


def continued(judge: Judge, opinions: Path | None) -> Judge:
    """Return a judge behind a file of its opinions; the judge itself without a file, and rules, which are quick."""
    return judge if opinions is None or judge.name == LEXICAL else ContinuedJudge(judge, OpinionFile(opinions))


def unfinished_file(run_file: Path, judge: str) -> Path:
    """Return the file that keeps the opinions of a judge beside a run until its verdicts are kept."""
    return file_beside(run_file, judge, f"{UNFINISHED}.jsonl")


@contextmanager
def until_kept(file: Path | None, notify: Callable[[str], None] | None, forgets: bool = True) -> Iterator[None]:
    """Forget the opinions in a file when the block has ended, if it ``forgets``; after Ctrl-C, say where they are."""
    try:
        yield
    except KeyboardInterrupt:
        if file is not None and file.is_file() and notify is not None:
            notify(f"stopped: the verdicts so far are kept in {file}; the same command continues from there")
        raise
    if file is not None and forgets:
        file.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        what = f"opinions can't be kept: {error.strerror or error}"
        raise InputError(what, where=str(path), remedy="Make room, or give the right to write there.") from None
