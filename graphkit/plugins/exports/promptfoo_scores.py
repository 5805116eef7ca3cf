"""Scores in results of promptfoo: the score of each test, and those of its named metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from graphkit.errors import InputError
from graphkit.imports.sources import values_of
from graphkit.plugins.exports.scored_samples import GivenScore, ScoredSample, number_of
from graphkit.plugins.logs.promptfoo import error_of, question_of, results_of, variant_of
from graphkit.readers.json_values import object_of, text
from graphkit.records.unanswered import failed

#: The measure of a test's own score, and the grader of all.
OVERALL = GRADER = "promptfoo"

NOTHING_ASSERTED = "the test asserts nothing"

#: How the reason of an assertion begins whose own code failed: promptfoo counts it as 0, and it judged nothing.
_BROKEN = re.compile(r"(?:Custom function threw error|(?:Python|Ruby) code execution failed|Webhook error): ")


class PromptfooScores:
    """Reads the results that ``promptfoo eval -o FILE.json`` writes."""

    name: ClassVar[str] = GRADER
    title: ClassVar[str] = "results of promptfoo (.json)"

    def recognises(self, value: Any) -> bool:
        """Return whether a value is the results of an evaluation."""
        return results_of(value) is not None

    def samples(self, path: Path) -> Iterator[ScoredSample]:
        """Yield the results of a file."""
        for where, value in values_of(path):
            if (results := results_of(value)) is None:
                remedy = "Write them by `promptfoo eval -o FILE.json`, or check --format."
                raise InputError("these are no results of promptfoo", where=where, remedy=remedy)
            version = text(object_of(value.get("metadata")).get("promptfooVersion"))
            for place, result in enumerate(results):
                yield _sample(f"{where} results[{place}]", result, version)


def _sample(where: str, result: dict[str, Any], version: str | None) -> ScoredSample:
    error = error_of(result)
    return ScoredSample(
        where,
        *question_of(result),
        version,
        _scores(result) if error is None else {OVERALL: GivenScore(GRADER, None, failed(error))},
        error,
        variant_of(result),
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
