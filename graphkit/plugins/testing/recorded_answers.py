"""The answers of a system as a run in the record's folder: each question is asked once, and again only on request."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import msgspec

from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import find_file, stored_blocks
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problems
from graphkit.plugins.systems.importing import System
from graphkit.plugins.systems.runner import Limits
from graphkit.plugins.systems.session import DEFAULT_K, Plan, Session, plan
from graphkit.records.models import Question
from graphkit.records.words import counted

#: The ending of the note on who made a run.
_MAKER = ".made-by"


class _Line(msgspec.Struct):
    """The part of a record that says which question it answers, and whether the system failed on it."""

    question_id: str
    error: str | None = None


class _AskingNote(msgspec.Struct):
    """The note beside the answers: the digest of each question as the system saw it, and the last test run that began
    to ask again."""

    questions: dict[str, str] = {}
    session: str = ""


@dataclass(frozen=True)
class Again:
    """Whether recorded questions are asked again in this test run: all of them, or those that failed.

    ``session`` names the test run, so that of several processes one asks.
    """

    every: bool = False
    failed: bool = False
    session: str = ""


@dataclass(frozen=True)
class SystemUnderTest:
    """A system, what distinguishes its versions, and how it is asked."""

    system: System
    version: str = ""
    k: int = DEFAULT_K
    limits: Limits = field(default_factory=Limits)

    def key(self, root: Path) -> list[str]:
        """Return the texts that distinguish its answers from those of other systems."""
        return [self.system.name, self.system.source, self.version, str(self.k)]

    def run_file(self, folder: Path) -> Path:
        """Return the file of its answers."""
        return folder / f"{self.system.name}.jsonl"

    def answer(
        self,
        dataset: Dataset,
        wanted: Collection[str] | None,
        folder: Path,
        again: Again,
        notify: Callable[[str], None],
    ) -> int:
        """Ask the questions that have no record, and return how many were asked.

        A record counts no more if the question changed, other than in its gold. Records that are asked ``again`` stay
        until all new ones are there: a test run that ends before leaves them as they were.

        Parameters
        ----------
        wanted
            The ids of the questions to ask; None for all.

        Raises
        ------
        InputError
            A question can't be used, or a record can't be written.
        KeyboardInterrupt
            Ctrl-C stopped it; the answers so far are kept, but not those to questions that are asked again.
        """
        whole = plan(dataset, Problems())
        chosen = [one for one in whole.questions if wanted is None or one.id in wanted]
        file, note = self.run_file(folder), folder / "asked.json"
        before, asked = _note(note), _digests(whole.questions, dataset)
        recorded = _recorded(file)
        stale = {name for name in recorded if asked.get(name) != before.questions.get(name)}
        repeated: set[str] = set()
        if before.session != again.session:
            repeated = {
                one.id for one in chosen if one.id in recorded and (again.every or (again.failed and recorded[one.id]))
            }
        dropped = stale | repeated
        left = tuple(one for one in chosen if one.id not in recorded or one.id in dropped)
        current = _AskingNote(asked, again.session if again.every or again.failed else before.session)
        if left:
            notify(f"asking {counted(len(left), 'question')} of {self.system.name}")
        if repeated:
            with held_folder(folder) as beside:
                _copy_record(file, beside, dropped)
                self._ask(dataset, replace(whole, questions=left), beside)
                _replace_record(beside, file)
        elif stale:
            _copy_record(file, folder, stale)
        if current != before:
            with written(note) as temporary:
                temporary.write_bytes(msgspec.json.encode(current))
        if left and not repeated:
            self._ask(dataset, replace(whole, questions=left), folder)
        return len(left)

    def _ask(self, dataset: Dataset, asked: Plan, folder: Path) -> None:
        session = Session(dataset, asked, [self.system], folder, self.limits, k=self.k)
        with session.open():
            if not session.run(lambda answer: None):
                raise KeyboardInterrupt


def _note(path: Path) -> _AskingNote:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_AskingNote)
    except (OSError, msgspec.MsgspecError):
        return _AskingNote()


def _digests(questions: Iterable[Question], dataset: Dataset) -> dict[str, str]:
    """Return a digest of each question as a system sees it: without gold, and with the commits of its stack."""
    path = find_file(dataset.folder, "compatibility")
    stacks = b"" if path is None else b"".join(stored_blocks(path))
    found = {}
    for one in questions:
        content = one.model_dump_json(exclude_defaults=True).encode()
        found[one.id] = blake2b(content + (stacks if one.stack else b""), digest_size=8).hexdigest()
    return found


def _lines(file: Path) -> Iterable[tuple[str, bool, bytes]]:
    """Yield the question, whether its answer is an error, and the line of each record; a truncated one is left out."""
    if not file.exists():
        return
    with file.open("rb") as stream:
        for line in stream:
            try:
                found = msgspec.json.decode(line, type=_Line)
            except msgspec.MsgspecError:
                continue
            yield found.question_id, found.error is not None, line


def _recorded(file: Path) -> dict[str, bool]:
    return {question: failed for question, failed, _ in _lines(file)}


def _copy_record(file: Path, folder: Path, dropped: Collection[str]) -> None:
    """Write a run without some questions into a folder, which may be its own."""
    kept = [line for question, _, line in _lines(file) if question not in dropped]
    if kept or folder == file.parent:
        with written(folder / file.name) as temporary:
            temporary.write_bytes(b"".join(kept))
    maker = file.with_suffix(_MAKER)
    if kept and folder != file.parent and maker.is_file():
        shutil.copy(maker, folder)


def _replace_record(folder: Path, file: Path) -> None:
    """Move a run from a folder into the place of another one, the notes beside it first."""
    for one in sorted(folder.iterdir(), key=lambda one: one.name == file.name):
        one.replace(file.with_name(one.name))
