"""Results of promptfoo: the answer to each test, and the contexts that its prompt or its provider had."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.model_messages import CUT, cut_short
from graphkit.plugins.logs.payloads import (
    ANSWERS,
    QUESTION_IDS,
    QUESTION_TEXTS,
    TASK_IDS,
    at,
    count_unread,
    json_within,
    plain_key,
    question_id,
)
from graphkit.plugins.logs.text_contexts import CONTEXT_KEYS, chunks_of
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import counted, shortened

#: The failure reason of a test that ended in an error rather than by an assertion.
_ERROR = 2

CACHED = "the answer came from promptfoo's cache: its latency isn't that of the system"
FROM_TEST = "the contexts are those that the test's variables gave to the prompt"

_RESULT = ("vars", "testCase", "metadata", "provider", "prompt", "response", "latencyMs", "cost", "error")
_SCORED = (
    "gradingResult",
    "namedScores",
    "score",
    "success",
    "failureReason",
    "id",
    "promptId",
    "promptIdx",
    "testIdx",
)
_RESPONSE = ("output", "raw", "tokenUsage", "cost", "cached", "metadata", "error", "finishReason")


class PromptfooReader(Reader):
    """Reads the results that ``promptfoo eval -o FILE.json`` or ``FILE.jsonl`` writes."""

    name = "promptfoo"
    priority = 112
    title = "promptfoo: results of an evaluation (-o FILE.json or .jsonl)"
    lacks = (
        "Results have no traversal, and contexts only where a variable `context`, the output or the metadata of the "
        "response holds them.",
        "A failed assertion is a score and no failure of the answer: `graphkit import scores` reads scores.",
    )

    def recognises(self, value: Any) -> bool:
        return results_of(value) is not None or _is_result(value)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        variants: dict[tuple[str, ...], None] = {}
        asked = Counter[tuple[Any, ...]]()
        for where, value in values:
            found = results_of(value)
            if found is None and not _is_result(value):
                remedy = "Write them by `promptfoo eval -o FILE.json`."
                raise UnreadableLogError("these are no results of promptfoo", where=where, remedy=remedy)
            for place, result in enumerate(found if found is not None else [value]):
                variants[variant_of(result)] = None
                _refuse_several(variants, where)
                answer = _answer(where if found is None else f"{where} results[{place}]", result, options, unread)
                key = (result.get("promptIdx"), result.get("testIdx"), answer.question, answer.question_text)
                asked[key] += 1
                answer.trial = str(asked[key])  # --repeat asks a test again
                yield answer


def results_of(value: Any) -> list[dict[str, Any]] | None:
    """Return the results in a document of promptfoo, or None if it is another."""
    found = object_of(object_of(value).get("results")).get("results")
    return [object_of(one) for one in found] if isinstance(found, list) else None


def _is_result(value: Any) -> bool:
    return isinstance(value, dict) and "promptIdx" in value and "vars" in value and "testCase" in value


def question_of(result: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the id of the question of a result, and its text."""
    variables = object_of(result.get("vars"))
    name = question_id(object_of(result.get("testCase")).get("metadata"), result.get("metadata"), variables)
    return name, next(
        (asked for key, value in variables.items() if plain_key(key) in QUESTION_TEXTS and (asked := text(value))), None
    )


def error_of(result: dict[str, Any]) -> str | None:
    """Return the error in which a test ended; one whose assertions failed has their reason beside a grading."""
    if result.get("failureReason") == _ERROR or (result.get("error") and not object_of(result.get("gradingResult"))):
        return text(result.get("error")) or "the test ended in an error"
    return None


def variant_of(result: dict[str, Any]) -> tuple[str, ...]:
    """Return the provider and the prompt of a result, as far as they have names."""
    provider, prompt = object_of(result.get("provider")), object_of(result.get("prompt"))
    names = text(provider.get("label")) or text(provider.get("id")), text(prompt.get("label"))
    return tuple(name for name in names if name is not None)


def _refuse_several(variants: Iterable[tuple[str, ...]], where: str) -> None:
    found = list(variants)
    if len(found) < 2:
        return
    shown = "; ".join(" with ".join(map(repr, map(shortened, one))) for one in found)
    what = f"the results are of {counted(len(found), 'pair')} of provider and prompt, and a run is of one: {shown}"
    remedy = "Write those of one: `promptfoo eval --filter-providers NAME -o FILE.json`, with one prompt."
    raise UnreadableLogError(what, where=where, remedy=remedy)


def _answer(where: str, result: dict[str, Any], options: ReadOptions, unread: Counter[str]) -> LoggedAnswer:
    response, variables = object_of(result.get("response")), object_of(result.get("vars"))
    name, asked = question_of(result)
    if options.question_key is not None:
        name = identifier(at(result, options.question_key))
        if name is None:
            what = f"the result has no question's id at {options.question_key!r}"
            raise UnreadableLogError(what, where=where, remedy="Correct --question-key, such as vars.ticket.")
    texts = [value for value in variables.values() if isinstance(value, str)]
    answer = LoggedAnswer(where, name, asked or (texts[0] if len(texts) == 1 else None))
    count_unread(result, (*_RESULT, *_SCORED), unread)
    count_unread(response, _RESPONSE, unread, "response.")
    answer.error = error_of(result)
    output = response.get("output")
    if answer.error is None:
        answer.answer = _words(output)
        _add_contexts(answer, output, object_of(response.get("metadata")), variables, unread)
    if cut_short(response, json_within(response.get("raw"))):
        answer.notes.append(CUT)
    if response.get("cached") is True:
        answer.notes.append(CACHED)
    else:
        answer.latency_ms = number(result.get("latencyMs"))
    usage = object_of(response.get("tokenUsage"))
    answer.prompt_tokens, answer.output_tokens = whole(usage.get("prompt")), whole(usage.get("completion"))
    answer.cost = number(response.get("cost", result.get("cost")))
    answer.model = (variant_of(result) or (None,))[0]
    return answer


def _words(output: Any) -> str | None:
    """Return the answer in an output: a text, the answer in an object, else the object as JSON."""
    if output is None or isinstance(output, str):
        return output
    said = next((one for key in ANSWERS if isinstance(one := object_of(output).get(key), str)), None)
    return json.dumps(output, ensure_ascii=False) if said is None else said


def _add_contexts(
    answer: LoggedAnswer, output: Any, metadata: dict[str, Any], variables: dict[str, Any], unread: Counter[str]
) -> None:
    """Add the contexts of the output, the response's metadata or the test's variables, the first that has any."""
    for held, prefix in (
        (object_of(output), "response.output."),
        (metadata, "response.metadata."),
        (variables, "vars."),
    ):
        key = next((key for key in held if plain_key(key) in CONTEXT_KEYS), None)
        if key is not None and answer.retrieved is None:
            answer.retrieved = chunks_of(held[key], answer.notes)
            if answer.retrieved is None:
                unread[f"{prefix}{shortened(key)}"] += 1
            elif held is variables:
                answer.notes.append(FROM_TEST)
        used = [] if key is None else [key]
        if held is variables:
            used += [name for name in held if plain_key(name) in (*QUESTION_TEXTS, *QUESTION_IDS, *TASK_IDS)]
            used += [name for name, value in held.items() if value == answer.question_text]
        elif held is not metadata:
            used += ANSWERS
        count_unread(held, used, unread, prefix)
