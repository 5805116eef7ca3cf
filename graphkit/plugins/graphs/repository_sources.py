"""Sources of repositories for the nodes of a graph, as the user chooses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphkit.files.dataset_settings import checked_pattern
from graphkit.imports.names import read_pairs


@dataclass(frozen=True, slots=True)
class RepositorySource:
    """A source of repositories; at most one of its fields is set.

    Attributes
    ----------
    attribute
        The attribute of nodes that holds them.
    table
        The repositories by id.
    setting
        The setting for ``dataset.json``: ``"id"``, ``"none"`` or a pattern.
    """

    attribute: str | None = None
    table: Mapping[str, str] | None = None
    setting: str | None = None

    @classmethod
    def of(cls, given: str | None) -> RepositorySource:
        """Return what a text means: ``id``, ``none``, a pattern with a group ``repo``, a file, else an attribute.

        Raises
        ------
        InputError
            It is a pattern or a file that can't be used.
        """
        if given is None:
            return cls()
        if given in ("id", "none"):
            return cls(setting=given)
        if "(?P<" in given:
            return cls(setting=checked_pattern(given, "--repo-from"))
        path = Path(given)
        if path.suffix or path.exists():
            return cls(table=read_pairs(path, "id", "repo", '{"id": "flask.app:Flask.run", "repo": "flask"}'))
        return cls(attribute=given)
