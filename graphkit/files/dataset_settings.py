"""The settings of a data set, in its ``dataset.json``: its own fields, and the rule for repositories."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean, unreadable_file
from graphkit.files.atomic import written
from graphkit.files.jsonl import find_file, folders_around
from graphkit.records.json_once import strict_json

#: The file in a dataset's folder about all of its files.
FILE = "dataset.json"

#: The keys that graphkit reads; others belong to the data set.
EXTRA_FIELDS, REPOSITORIES = "extra_fields", "repositories"

_FORM = 'Write {"extra_fields": ["scenario", "paths.steps.count"]}.'
_REPOSITORIES_FORM = (
    'Write "id" if the part of each id before a colon is its repository, "none" if no id tells one, or a regular '
    'expression with a group repo, such as "(?P<repo>[^.]+)\\\\.".'
)


def extra_fields(folder: Path) -> frozenset[str]:
    """Return the own fields of the dataset in a folder: names, or dotted names with their place.

    Raises
    ------
    InputError
        The file can't be read, isn't a JSON object, or its key isn't a list of names.
    """
    listed = _content(folder).get(EXTRA_FIELDS, [])
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise InputError(f"{EXTRA_FIELDS!r} must be a list of names", where=str(folder / FILE), remedy=_FORM)
    return frozenset(listed)


def repository_setting(folder: Path) -> str | None:
    """Return the rule for repositories: ``"id"``, ``"none"`` or a pattern; None if the data decide.

    Raises
    ------
    InputError
        The file can't be read, or its key is none of these.
    """
    given = _content(folder).get(REPOSITORIES)
    if given is None or given in ("id", "none"):
        return given
    where = f"{folder / FILE}: {REPOSITORIES}"
    if not isinstance(given, str):
        raise InputError("this must be a text", where=where, remedy=_REPOSITORIES_FORM)
    return checked_pattern(given, where)


def set_repositories(folder: Path, setting: str) -> None:
    """Write the rule for repositories to the settings of a dataset, and keep the other keys."""
    content = _content(folder) | {REPOSITORIES: setting}
    with written(folder / FILE) as path:
        path.write_text(f"{json.dumps(content, ensure_ascii=False, indent=2)}\n", encoding="utf-8")


def checked_pattern(text: str, where: str) -> str:
    """Return a regular expression for repositories; raise InputError if it isn't one, or has no group ``repo``."""
    try:
        groups = re.compile(text).groupindex
    except re.error as error:
        raise InputError(f"not a regular expression: {error}", where=where, remedy=_REPOSITORIES_FORM) from None
    if "repo" not in groups:
        raise InputError("the regular expression has no group repo", where=where, remedy=_REPOSITORIES_FORM)
    return text


def extra_fields_beside(file: Path) -> frozenset[str]:
    """Return the extra fields of the dataset of a file, which is in the dataset's folder or in its ``runs/``."""
    above, beside = folders_around(file)
    return next((extra_fields(folder) for folder in (beside, above) if find_file(folder, "questions")), frozenset())


def _content(folder: Path) -> dict[str, Any]:
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        content = strict_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable_file(path, error) from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not valid JSON: {what}", where=str(path), remedy=_FORM) from None
    if not isinstance(content, dict):
        raise InputError("the file must hold one JSON object", where=str(path), remedy=_FORM)
    known = (EXTRA_FIELDS, REPOSITORIES)
    for name in content.keys() - known:
        if hint := did_you_mean(name, known):
            raise InputError(f"the key {name!r} isn't known", where=str(path), remedy=hint.strip())
    return content
