"""New names in a question's gold, and the renames on record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import refuse_bundled
from graphkit.files.atomic import written
from graphkit.files.jsonl import read_lines
from graphkit.files.known_ids import gold_ids
from graphkit.records.aliases import QUESTION, TOOL_CALL
from graphkit.records.arguments import arguments_of_text
from graphkit.records.structs import Name, QuestionStruct


def gold_names(question: QuestionStruct) -> Iterator[str]:
    """Yield the ids and expected files of a question's gold."""
    yield from gold_ids(question)
    yield from question.expected_files


def renamed(fields: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a question with new names in its gold, in all forms.

    >>> renamed({"gold_paths": [[["a:x", "a:x", "a:y"]], ["a:x", "a:y"]], "relevant": ["a:x"]}, {"a:x": "a:z"})
    {'gold_paths': [[['a:z', 'a:x', 'a:y']], ['a:z', 'a:y']], 'relevant': ['a:z']}
    """
    result = dict(fields)

    def of(value: Any) -> Any:
        return renames.get(value, value) if isinstance(value, str) else value

    def step(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: of(part) if key in ("source", "target") else part for key, part in value.items()}
        if isinstance(value, list) and len(value) == 3:
            return [of(value[0]), value[1], of(value[2])]
        return of(value)

    def path(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: [step(part) for part in held] if key == "steps" else held for key, held in value.items()}
        return [step(part) for part in value]

    for key, value in fields.items():
        if value is None:
            continue
        if key in ("paths", *QUESTION["paths"]):
            result[key] = [path(part) for part in value]
        elif key in ("relevant", *QUESTION["relevant"]):
            if isinstance(value, dict):
                gains: dict[str, Any] = {}
                for name, gain in value.items():
                    gains[of(name)] = max(gain, gains.get(of(name), gain))
                result[key] = gains
            else:
                result[key] = [
                    ({**part, "id": of(part["id"])} if "id" in part else part) if isinstance(part, dict) else of(part)
                    for part in value
                ]
        elif key == "evidence_sets":
            result[key] = [list(dict.fromkeys(map(of, evidence))) for evidence in value]
        elif key in ("expected_files", "seeds", *QUESTION["seeds"]):
            result[key] = list(dict.fromkeys(map(of, value)))
        elif key in ("expected_tool_calls", *QUESTION["expected_tool_calls"]):
            result[key] = [_renamed_call(part, renames) if isinstance(part, dict) else part for part in value]
        elif key == "criteria":
            result[key] = [_renamed_criterion(part, of) for part in value]
        elif key == "conflicts":
            result[key] = [
                {**part, "between": list(map(of, part.get("between") or ()))} if isinstance(part, dict) else part
                for part in value
            ]
    return result


def _renamed_criterion(criterion: dict[str, Any], of: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a criterion with the new name of its id."""
    return {
        key: {**part, "id": of(part["id"])} if isinstance(part, dict) and "id" in part else part
        for key, part in criterion.items()
    }


def _renamed_call(call: dict[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """Return an expected tool call with new names in its arguments."""

    def within(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: within(part) for key, part in value.items()}
        if isinstance(value, list):
            return [within(part) for part in value]
        return renames.get(value, value) if isinstance(value, str) else value

    changed = dict(call)
    if isinstance(call.get("function"), dict):
        changed["function"] = _renamed_call(call["function"], renames)
    for key in ("arguments", *TOOL_CALL["arguments"]):
        held = call.get(key)
        if isinstance(held, str):  # chat completions write the object as JSON in a string
            given = arguments_of_text(held)
            changed[key] = json.dumps(within(given), ensure_ascii=False) if within(given) != given else held
        elif key in call:
            changed[key] = within(held)
    return changed


#: The renames that ``gold migrate`` wrote into gold, kept beside the questions: by these the gold of an
#: earlier baseline is read under the new names.
RENAMES = "renames.jsonl"


class _Rename(msgspec.Struct, forbid_unknown_fields=True):
    old: Name
    new: Name


def recorded_renames(folder: Path) -> dict[str, str]:
    """Return the latest name of each earlier one; empty if no rename is recorded.

    Raises
    ------
    InputError
        A line isn't a rename.
    """
    path = folder / RENAMES
    found: dict[str, str] = {}
    for number, line in read_lines(path) if path.is_file() else ():
        try:
            one = msgspec.json.decode(line, type=_Rename)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what = f"this isn't a rename: {error}"
            raise InputError(what, where=f"{path}:{number}", remedy='Write {"old": "...", "new": "..."}.') from None
        found = {name: one.new if later == one.old else later for name, later in found.items()}
        found[one.old] = one.new
    return {old: new for old, new in found.items() if old != new}


def record_renames(folder: Path, renames: Mapping[str, str]) -> None:
    """Add renames to those of a dataset; the file is written whole or not at all."""
    if not renames:
        return
    refuse_bundled(folder)
    path = folder / RENAMES
    held = path.read_bytes() if path.is_file() else b""
    added = b"".join(msgspec.json.encode(_Rename(old, new)) + b"\n" for old, new in renames.items())
    with written(path) as temporary:
        temporary.write_bytes(held + (b"\n" if held and not held.endswith(b"\n") else b"") + added)
