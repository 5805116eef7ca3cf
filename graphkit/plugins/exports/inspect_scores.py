"""Scores in logs of Inspect: the values that its scorers gave to each sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from graphkit.errors import InputError
from graphkit.imports.sources import is_archive, values_of
from graphkit.plugins.exports.scored_samples import GivenScore, ScoredSample, number_of
from graphkit.plugins.logs.archives import Archive
from graphkit.plugins.logs.payloads import question_id
from graphkit.readers.json_values import identifier, object_of, text

#: The letters of Inspect's scorers, with their usual value and their meaning.
LETTERS: Mapping[str, tuple[float, str]] = {
    "C": (1.0, "correct"),
    "P": (0.5, "partial"),
    "I": (0.0, "incorrect"),
    "N": (0.0, "no answer"),
}

#: The other texts to which Inspect gives a number.
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

LATER_EPOCHS = "samples of epoch 2 and later: a run has one answer to a question"


class InspectScores:
    """Reads the scores in ``.eval`` archives and ``.json`` logs."""

    name: ClassVar[str] = "inspect"
    title: ClassVar[str] = "logs of Inspect (.eval, .json)"

    def recognises(self, value: Any) -> bool:
        """Return whether a value is a log, or a sample of an archive."""
        return isinstance(value, dict) and (
            {"eval", "status"} <= value.keys() or {"id", "epoch", "scores"} <= value.keys()
        )

    def samples(self, path: Path) -> Iterator[ScoredSample]:
        """Yield the samples of a file."""
        version = _version(_header(path)) if is_archive(path) else None
        for where, value in values_of(path):
            if not self.recognises(value):
                raise InputError("it is no log of Inspect", where=where, remedy="Check --format.")
            if "eval" not in value:
                yield _sample(where, value, version)
                continue
            if not isinstance(value.get("samples"), list):
                what = f"the log holds no samples (its status is {str(value['status'])[:40]})"
                raise InputError(what, where=where, remedy="Write it with them: inspect log dump FILE.eval.")
            for place, sample in enumerate(value["samples"]):
                yield _sample(f"{where} samples[{place}]", object_of(sample), _version(value))


def _header(path: Path) -> Any:
    with Archive(path) as archive:
        names = archive.names()
        return next((archive.document(one) for one in ("header.json", "_journal/start.json") if one in names), None)


def _version(log: Any) -> str | None:
    return text(object_of(object_of(object_of(log).get("eval")).get("packages")).get("inspect_ai"))


def _sample(where: str, sample: dict[str, Any], version: str | None) -> ScoredSample:
    if sample.get("epoch") not in (None, 1):
        return ScoredSample(where, left_out=LATER_EPOCHS)
    scores: dict[str, GivenScore] = {}
    for scorer, given in object_of(sample.get("scores")).items():
        one = object_of(given)
        value = one.get("value")
        parts = {f"{scorer}.{name}": part for name, part in value.items()} if isinstance(value, dict) else {}
        for measure, part in (parts or {scorer: value}).items():
            scores[measure] = _given(scorer, part, text(one.get("explanation")))
    error = sample.get("error")
    asked = sample.get("input")
    return ScoredSample(
        where,
        question_id(sample.get("metadata")) or identifier(sample.get("id")),
        asked if isinstance(asked, str) else None,
        version,
        scores,
        (text(object_of(error).get("message")) or "the sample failed") if error is not None else None,
    )


def _given(scorer: str, value: Any, explanation: str | None) -> GivenScore:
    """Return a score as Inspect's own metrics count it, but for values without a number, which have none here."""
    number, reason, grade = *number_of(value), None
    if isinstance(value, str):
        grade = value
        if value in LETTERS:
            number, grade = LETTERS[value]
        else:
            number = _WORDS.get(value.lower(), _parsed(value))
        reason = None if number is not None else reason
    return GivenScore(f"inspect/{scorer}", number, reason, grade, explanation)


def _parsed(value: str) -> float | None:
    try:
        return number_of(float(value))[0]
    except ValueError:
        return None
