"""LocAgent: the files, modules and functions that the patch of an issue edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, decoded
from graphkit.plugins.logs.written_places import location_id


class LocAgent(GoldFormat):
    """Reads ``edit_functions`` of the benchmarks, or ``gt_file_changes`` within an output's ``meta_data``."""

    name = "locagent"
    title = "LocAgent, Loc-Bench: edit_functions, or meta_data of loc_outputs.jsonl"
    told_by = ("edit_functions",)
    lacks = (
        "There are no paths: the edited entities are relevant, their files and symbols are expected.",
        "Code that has to be read but not changed is unknown.",
        "An edited file without an edited entity is relevant itself: the question isn't scored at the level of symbols "
        "if all its files are such.",
        "LocAgent's evaluation leaves out instances that edit no function, by a list of its own; "
        "the rows don't mark them.",
    )
    repositories = True

    def question(self, row: GoldRow) -> dict[str, Any]:
        meta = row.get("meta_data")
        fields = GoldRow(row.where, row.stem, row.number, meta) if isinstance(meta, dict) else row
        repo = fields.text("repo")
        if ":" in repo:
            raise UnusableRowError(f"'repo' must be the name of a repository, such as owner/name, not {repo!r}")
        relevant, files, symbols = dict[str, float](), dict[str, None](), dict[str, None]()
        for file, entities in _edited(fields):
            files[location_id(file, repo)] = None
            for entity in entities:
                relevant[location_id(entity, repo)] = 1.0
                symbols[entity.partition(":")[2]] = None
            if not entities:
                relevant[location_id(file, repo)] = 1.0
        if not symbols:
            row.notes.append("no edited entity: the question has gold at the level of files only")
        return {
            "id": row.name("instance_id"),
            "question": fields.text("problem_statement"),
            "group": repo,
            "commits": {repo: fields.text("base_commit")},
            "relevant": relevant,
            "expected_files": list(files),
            "expected_symbols": list(symbols),
        }


def _edited(row: GoldRow) -> Iterator[tuple[str, list[str]]]:
    """Yield each edited file with its edited entities."""
    changes = decoded(row.get("gt_file_changes", "file_changes"), "gt_file_changes")
    if changes is not None:
        if not isinstance(changes, list) or not changes:
            raise UnusableRowError("the field 'gt_file_changes' must be a list of files that isn't empty")
        for number, change in enumerate(changes, 1):
            if not isinstance(change, Mapping) or not isinstance(change.get("file"), str):
                raise UnusableRowError(f"item {number} of 'gt_file_changes' names no file")
            made = change.get("changes")
            yield change["file"], _entities(made.get("edited_entities") if isinstance(made, Mapping) else None)
        return
    functions = _entities(decoded(row.get("edit_functions"), "edit_functions"))
    if not functions:
        raise UnusableRowError("the row has neither 'edit_functions' nor 'gt_file_changes': it names no edited place")
    by_file: dict[str, list[str]] = {}
    for one in functions:
        by_file.setdefault(one.partition(":")[0], []).append(one)
    yield from by_file.items()


def _entities(value: Any) -> list[str]:
    """Return a list of locations such as ``path.py:Class.method``; an empty one if it is missing."""
    found = [] if value is None else value
    if not isinstance(found, list) or not all(isinstance(one, str) and all(one.partition(":")) for one in found):
        raise UnusableRowError(f"edited entities must be a list such as ['path.py:Class.method'], not {value!r:.80}")
    return found
