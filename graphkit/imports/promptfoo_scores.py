"""Scores in results of promptfoo: the score of each test, and those of its named metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from graphkit.errors import InputError
from graphkit.imports.scored_samples import GivenScore, ScoredSample, number_of, question_id
from graphkit.imports.sources import values_of
from graphkit.readers.payloads import QUESTION_TEXTS, object_of, plain_key, text
from graphkit.records.unanswered import failed

#: The measure of a test's own score, and the grader of all.
OVERALL = GRADER = "promptfoo"

#: The failure reason of a test that ended in an error rather than by an assertion.
_ERROR = 2

NOTHING_ASSERTED = "the test asserts nothing"

#: How the reason of an assertion begins whose own code failed: promptfoo counts it as 0, and it judged nothing.
_BROKEN = re.compile(r"(?:Custom function threw error|(?:Python|Ruby) code execution failed|Webhook error): ")


class PromptfooScores:
    """Reads the results that ``promptfoo eval -o FILE.json`` writes."""

    name: ClassVar[str] = GRADER
    title: ClassVar[str] = "results of promptfoo (.json)"

    def recognises(self, value: Any) -> bool:
        """Return whether a value is the results of an evaluation."""
        return isinstance(value, dict) and isinstance(object_of(value.get("results")).get("results"), list)

    def samples(self, path: Path) -> Iterator[ScoredSample]:
        """Yield the results of a file."""
        for where, value in values_of(path):
            if not self.recognises(value):
                remedy = "Write them by `promptfoo eval -o FILE.json`, or check --format."
                raise InputError("these are no results of promptfoo", where=where, remedy=remedy)
            version = text(object_of(value.get("metadata")).get("promptfooVersion"))
            for place, result in enumerate(value["results"]["results"]):
                yield _sample(f"{where} results[{place}]", object_of(result), version)


def _sample(where: str, result: dict[str, Any], version: str | None) -> ScoredSample:
    test, variables = object_of(result.get("testCase")), object_of(result.get("vars"))
    asked = (value for name, value in variables.items() if plain_key(name) in QUESTION_TEXTS)
    provider, prompt = object_of(result.get("provider")), object_of(result.get("prompt"))
    variant = text(provider.get("label")) or text(provider.get("id")), text(prompt.get("label"))
    error = None
    # A test whose assertions failed has their reason as its error, and a grading beside it.
    if result.get("failureReason") == _ERROR or (result.get("error") and not object_of(result.get("gradingResult"))):
        error = text(result.get("error")) or "the test ended in an error"
    return ScoredSample(
        where,
        question_id(test.get("metadata"), result.get("metadata"), variables),
        next(filter(None, map(text, asked)), None),
        version,
        _scores(result) if error is None else {OVERALL: GivenScore(GRADER, None, failed(error))},
        error,
        tuple(name for name in variant if name is not None),
    )


def _scores(result: dict[str, Any]) -> dict[str, GivenScore]:
    """Return the score of a test and those of its metrics, each with the reasons that its assertions gave."""
    graded = object_of(result.get("gradingResult"))
    components = graded.get("componentResults")
    assertions = [object_of(one) for one in components] if isinstance(components, list) else []
    named = object_of(result.get("namedScores")) or object_of(graded.get("namedScores"))
    found = {OVERALL: GivenScore(GRADER, None, NOTHING_ASSERTED)}
    if assertions or named:
        found = {OVERALL: _given(result.get("score"), assertions, text(graded.get("reason")))}
    for name, value in named.items():
        own = [one for one in assertions if object_of(one.get("assertion")).get("metric") == name]
        found[name] = _given(value, own, "; ".join(filter(None, (text(one.get("reason")) for one in own))) or None)
    return found


def _given(value: Any, assertions: Iterable[dict[str, Any]], explanation: str | None) -> GivenScore:
    """Return a score, without a value if one of the assertions behind it couldn't judge."""
    for one in assertions:
        reason = text(one.get("reason")) or ""
        if _BROKEN.match(reason) or object_of(one.get("metadata")).get("graderError") is True:
            return GivenScore(GRADER, None, f"an assertion failed to judge: {reason.partition(chr(10))[0]}")
    return GivenScore(GRADER, *number_of(value), explanation=explanation)
