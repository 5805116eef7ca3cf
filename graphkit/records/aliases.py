"""Limits of values, and the other names that records accept for their fields."""

from __future__ import annotations

from collections.abc import Mapping

from graphkit.records.repetition_names import TRIALS

#: The largest whole number that the database can hold.
LARGEST = 2**63 - 1

#: The largest number. Sums and products of numbers of this size are finite.
WIDEST = 1e30

#: The most characters of a name: an id, sha, repository, path or relation. An index key of Neo4j has at most about
#: 8,160 bytes, and must hold two names of up to four bytes per character.
LONGEST_NAME = 1000

#: The most seconds that a test of generated code may take.
LONGEST_WAIT = 600.0

#: The other names of each field.
Spellings = Mapping[str, tuple[str, ...]]

QUESTION: Spellings = {
    "id": ("question_id", "query_id"),
    "question": ("query", "user_input"),
    "group": ("domain",),
    "session": ("session_id", "conversation_id", "thread_id"),
    "gold_answer": ("ground_truth", "answer", "reference"),
    "expected_output": ("answer_span",),
    "paths": ("gold_paths",),
    "relevant": ("relevant_ids", "qrels"),
    "facts": ("required_facts", "components", "required_components"),
    "min_sources": ("minimum_sources",),
    "test_cases": ("tests",),
    "entry_point": ("function_name",),
    "expected_tool_calls": ("expected_tools", "reference_tool_calls"),
    "seeds": ("gold_seeds",),
}

CODE_TEST: Spellings = {
    "expected": ("expected_output", "output"),
    "raises": ("expected_exception", "exception"),
    "assertion": ("assert",),
    "timeout": ("timeout_s",),
}

ANSWER: Spellings = {
    "run": ("run_id",),
    "question_id": ("query_id", "id"),
    "retrieved": ("chunks", "retrieved_chunks"),
    "traversal": ("retrieved_paths",),
    "answer": ("response",),
    "abstained": ("declined",),
    "latency_ms": ("latency",),
    "prompt_tokens": ("input_tokens",),
    "output_tokens": ("completion_tokens",),
    "tool_calls": ("tools_called",),
    "seeds": ("linked_entities", "topic_entities", "topic_entity"),
}

#: The fields that harnesses write beside an answer and that aren't an answer's: those of its question, a person's
#: grade of it, and its number among several trials. The text of the question names it where no id does.
BESIDE_ANSWER = frozenset(
    (
        *("question", *QUESTION["question"], "category", "difficulty", "group", *QUESTION["group"], "split"),
        *("session", *QUESTION["session"], "turn"),
        *("grade", "failure_label", "grading_notes", *TRIALS),
    )
)

#: Fields of other logs that no record has, by the field that `--map` would read from them: their names say what they
#: hold, but not in which form.
_MAPPABLE: Spellings = {
    "retrieved": (
        *("evidence", "evidences", "contexts", "context", "passages", "documents", "docs", "hits", "sources"),
        *("supporting_facts", "retrieved_docs", "retrieved_documents", "retrieved_contexts", "retrieval_context"),
    ),
    "traversal": ("path", "paths", "hops", "triples", "edges", "visited", "reasoning_path", "relation_path"),
    "answer": ("prediction", "predicted_answer", "model_answer", "completion", "generation"),
    "score.reward": ("reward",),
    "score": ("score",),
}

TOOL_CALL: Spellings = {
    "name": ("tool_name", "function_name"),
    "arguments": ("args", "input_parameters"),
    "result": ("output",),
}

GRAPH_QUERY: Spellings = {
    "cypher": ("query", "statement"),
    "parameters": ("params",),
}

EDGE: Spellings = {"relation": ("type", "label")}


def mapping_of(name: str) -> str | None:
    """Return the `--map` that would read a field which isn't used; None if its name says nothing.

    >>> mapping_of("evidence"), mapping_of("colour")
    ('--map retrieved=evidence', None)
    """
    plain = name.rpartition(".")[2].casefold()
    field = next((field for field, names in _MAPPABLE.items() if plain in names), None)
    readable = all(part.isidentifier() for part in name.split("."))
    return f"--map {field}={name}" if field is not None and readable else None


def fields_by_other_name(spellings: Spellings) -> dict[str, str]:
    """Return the field of each other name; of two fields, the first."""
    found: dict[str, str] = {}
    for field, others in spellings.items():
        for other in others:
            found.setdefault(other, field)
    return found
