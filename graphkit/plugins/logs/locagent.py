"""``loc_outputs.jsonl`` of LocAgent and Agentless: the files, classes and functions that were found for an issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.payloads import count_unread, texts
from graphkit.plugins.logs.written_places import location_id, repository_of_instance
from graphkit.readers.json_values import object_of
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import shortened

#: The stages of Agentless below files, the last first: each names classes, functions and lines of the found files.
_STAGES = ("found_edit_locs", "found_related_locs")
_KINDS = ("class", "function", "method", "variable")

LINES = "places that are lines aren't read: the functions around them are unknown"
BARE = "a function behind a class may be its method: it is read as a function of the file"

_FOUND = {"file": "found_files", "module": "found_modules", "symbol": "found_entities"}


class LocAgentReader(Reader):
    """Reads the three rankings of an instance; the entities are what was retrieved."""

    name = "locagent"
    priority = 60
    finds_edges = False
    options = ()
    title = "LocAgent and Agentless: loc_outputs.jsonl, with found_files, found_entities or found_edit_locs"
    lacks = (
        "An output is a ranking at each level and nothing else: no traversal, no text, no scores, no times.",
        "What is retrieved are the found entities; the found files and modules are rankings of their own levels, "
        "since LocAgent doesn't order them as their entities.",
        "Of Agentless, the named classes and functions of the last stage that names any are retrieved; lines aren't.",
    )

    def recognises(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and "instance_id" in value
            and any(name in value for name in (*_FOUND.values(), *_STAGES))
        )

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            if not self.recognises(value):
                remedy = "Each line needs an instance_id, and found_files, found_entities or found_edit_locs."
                raise UnreadableLogError("this isn't an output of LocAgent or Agentless", where=where, remedy=remedy)
            meta = object_of(value.get("meta_data"))
            repo, commit = meta.get("repo"), meta.get("base_commit")
            ranked = {level: _locations(where, name, value, repo) for level, name in _FOUND.items()}
            symbols, stage, notes = ranked["symbol"], None, list[str]()
            if symbols is None:
                symbols, stage = _of_stages(where, value, repo, notes, unread)
            count_unread(value, ("instance_id", "meta_data", *_FOUND.values(), *([stage] if stage else ())), unread)
            yield LoggedAnswer(
                where,
                str(value["instance_id"]),
                repository=None if repo else repository_of_instance(str(value["instance_id"])),
                notes=notes,
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


def _of_stages(
    where: str, value: dict[str, Any], repo: Any, notes: list[str], unread: Counter[str]
) -> tuple[list[str] | None, str | None]:
    """Return the ids of the places that the last stage of Agentless names, and the stage; None if none is known."""
    files, nothing = texts(value.get("found_files")) or [], None
    for stage in _STAGES:
        if not value.get(stage):  # a stage that didn't run is an empty list
            continue
        found = dict[str, None]()
        lines = 0
        for file, text in _texts_by_file(where, stage, value[stage], files):
            within = None
            for line in text.splitlines():
                kind, colon, name = (part.strip() for part in line.partition(":"))
                name = name.split(" ")[0].removesuffix("()")
                if kind in _KINDS and colon and name:
                    within = name if kind == "class" else within
                    notes += [BARE] * (kind == "function" and within is not None and "." not in name)
                    found[location_id(f"{file}:{name}", repo if isinstance(repo, str) else None)] = None
                elif kind == "line":
                    lines += 1
                elif line.strip():
                    unread[f"{stage}: {shortened(kind)}"] += 1
        notes += [LINES] * (lines > 0)
        if found:
            return list(found), stage
        nothing = nothing or (None if lines else stage)
    return ([] if nothing is not None and not notes else None), nothing


def _texts_by_file(where: str, stage: str, value: Any, files: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each text of a stage with its file: of an object of files, a list beside the found files, or samples."""
    if isinstance(value, dict):
        yield from ((file, text) for file, given in value.items() for text in texts(given) or texts([given]) or ())
    elif not isinstance(value, list) or (len(value) > max(len(files), 1) and not _are_samples(value)):
        what = f"{stage!r} must be an object of files, or a list with a place for each of 'found_files'"
        raise UnreadableLogError(what, where=where, remedy="Write it as Agentless does.")
    elif _are_samples(value):
        for sample in value:
            yield from _texts_by_file(where, stage, sample, files)
    else:
        for file, given in zip(files, value, strict=False):
            yield from ((file, text) for text in texts(given) or texts([given]) or ())


def _are_samples(value: list[Any]) -> bool:
    """Return whether a list has one part for each sample, rather than for each file."""
    return any(
        isinstance(one, dict) or (isinstance(one, list) and any(isinstance(part, list) for part in one))
        for one in value
    )
