"""The data set's own fields, which its ``dataset.json`` lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.jsonl import find_file

#: The file in a dataset's folder about all of its files.
FILE = "dataset.json"

#: The only key that graphkit reads; others belong to the data set.
KEY = "extra_fields"

_FORM = 'Write {"extra_fields": ["scenario", "paths.steps.count"]}.'


def extra_fields(folder: Path) -> frozenset[str]:
    """Return the own fields of the dataset in a folder: names, or dotted names with their place.

    Raises
    ------
    InputError
        The file can't be read, isn't a JSON object, or its key isn't a list of names.
    """
    path = folder / FILE
    if not path.is_file():
        return frozenset()
    content = _content(path)
    for name in content.keys() - {KEY}:
        if hint := did_you_mean(name, [KEY]):
            raise InputError(f"the key {name!r} isn't known", where=str(path), remedy=hint.strip())
    listed = content.get(KEY, [])
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise InputError(f"{KEY!r} must be a list of names", where=str(path), remedy=_FORM)
    return frozenset(listed)


def extra_fields_beside(file: Path) -> frozenset[str]:
    """Return the extra fields of the dataset of a file, which is in the dataset's folder or in its ``runs/``."""
    folders = (file.parent, file.parent.parent)
    return next((extra_fields(folder) for folder in folders if find_file(folder, "questions")), frozenset())


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"the file can't be read: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not valid JSON: {what}", where=str(path), remedy=_FORM) from None
    if not isinstance(content, dict):
        raise InputError("the file must hold one JSON object", where=str(path), remedy=_FORM)
    return content
