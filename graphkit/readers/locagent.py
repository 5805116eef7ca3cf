"""LocAgent's ``loc_outputs.jsonl``: the files, modules and entities that an agent found for an issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.readers.payloads import count_unread, object_of, texts
from graphkit.records.written_places import location_id

_FOUND = {"file": "found_files", "module": "found_modules", "symbol": "found_entities"}


class LocAgentReader(Reader):
    """Reads the three rankings of an instance; the entities are what was retrieved."""

    name = "locagent"
    priority = 60
    finds_edges = False
    options = ()
    title = "LocAgent: loc_outputs.jsonl, with found_files, found_modules and found_entities"
    lacks = (
        "An output is a ranking at each level and nothing else: no traversal, no text, no scores, no times.",
        "What is retrieved are the found entities; the found files and modules are rankings of their own levels, "
        "since LocAgent doesn't order them as their entities.",
    )

    def recognises(self, value: Any) -> bool:
        return isinstance(value, dict) and "instance_id" in value and any(name in value for name in _FOUND.values())

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            if not self.recognises(value):
                remedy = "Each line needs an instance_id, and found_files, found_modules or found_entities."
                raise UnreadableLogError("this isn't an output of LocAgent", where=where, remedy=remedy)
            meta = object_of(value.get("meta_data"))
            repo, commit = meta.get("repo"), meta.get("base_commit")
            ranked = {level: _locations(where, name, value, repo) for level, name in _FOUND.items()}
            symbols = ranked["symbol"]
            count_unread(value, ("instance_id", "meta_data", *_FOUND.values()), unread)
            yield LoggedAnswer(
                where,
                str(value["instance_id"]),
                retrieved=None
                if symbols is None
                else [LoggedChunk(name, commit=commit if isinstance(commit, str) else None) for name in symbols],
                rankings={level: names for level, names in ranked.items() if names is not None and level != "symbol"},
            )


def _locations(where: str, name: str, value: dict[str, Any], repo: Any) -> list[str] | None:
    """Return the ids of a list of locations, or None if the output doesn't have the list.

    Before its samples are merged, an output holds a list for each of them: they count one after the other.
    """
    given = value.get(name)
    if given is None:
        return None
    if isinstance(given, list) and any(isinstance(one, list) for one in given):
        given = [one for part in given for one in (part if isinstance(part, list) else [part])]
    found = texts(given)
    if found is None or len(found) < len(given):
        raise UnreadableLogError(
            f"{name!r} must be a list of strings", where=where, remedy="Write it as LocAgent does."
        )
    return list(dict.fromkeys(location_id(one, repo if isinstance(repo, str) else None) for one in found))
