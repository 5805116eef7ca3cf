"""Reads the name, kind and fields of a graph's node from its properties and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.readers.graph_names import COMMITS, NAMES, is_element_id, plain
from graphkit.readers.json_values import identifier
from graphkit.records.graph_parts import GraphNode
from graphkit.records.words import shortened

#: The properties that identify a node, then those that name it but may be shared, in order of preference.
_IDS = ("id", "artifactid", *(name for name in NAMES if name not in ("id", "name", "title")))
_TITLES = ("name", "title", "label")

#: The properties that hold a field of an artifact, in order of preference.
FIELDS = {
    "repo": ("repo", "repository"),
    "path": ("path", "file", "filepath"),
    "symbol": ("symbol",),
    "commit": tuple(name for name in COMMITS if name != "version"),  # a version may be that of anything
    "line": ("line", "startline", "linestart", "lineno", "linenumber"),
    "end_line": ("endline", "lineend", "endlineno"),
    "aliases": ("aliases", "alias", "aka"),
}
_KINDS = ("nodetype", "entitytype", "type", "category")

#: Names that a file generates for its nodes: n0, n1, or numbers.
_NUMBERED = re.compile(r"n?\d+")

AS_THEY_ARE = "as the graph has them"


class NodeProperties:
    """The properties of a node regardless of the case of their names, with the set of used ones."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.used: set[str] = set()
        self._keys: dict[str, str] = {}
        for key, value in given.items():
            if value is not None:
                self._keys.setdefault(plain(key), key)

    def use(self, names: Iterable[str]) -> Any:
        """Return the value of the first of some names that exists, and mark it as used."""
        key = next((self._keys[name] for name in names if name in self._keys), None)
        if key is None:
            return None
        self.used.add(key)
        return self.given[key]

    def aliases(self) -> list[str]:
        """Return other names of a node: of a list, or of a text in which semicolons separate them."""
        value = self.use(FIELDS["aliases"])
        parts = value.split(";") if isinstance(value, str) else value if isinstance(value, list) else [value]
        return [*dict.fromkeys(filter(None, map(identifier, parts)))]

    def naming(self, names: Iterable[str], own: str | None) -> str | None:
        """Return the first of some properties whose value differs from the node's own id and isn't an element id."""
        for name in names:
            key = self._keys.get(name)
            if key is not None and _no_element_id(identifier(self.given[key])) not in (None, own):
                return key
        return None

    def name(self, own: str | None, wanted: str | None) -> tuple[str | None, str]:
        """Return the name of a node, and how it was found.

        Parameters
        ----------
        own
            The id of the node in the graph.
        wanted
            The property that names nodes, if the user chose one.
        """
        if wanted is not None:
            value = self.given.get(wanted)
            self.used.add(wanted)
            name = identifier(value) if value is not None or wanted.casefold() != "id" else own
            return _no_element_id(name), f"by the property {wanted}"
        if own is not None and not _NUMBERED.fullmatch(own):
            self.used.add("id")
            return own, AS_THEY_ARE
        if (key := self.naming(_IDS, own)) is None:
            repo, path, symbol = (identifier(self.use(FIELDS[name])) for name in ("repo", "path", "symbol"))
            if repo and path:
                return f"{repo}:{path}#{symbol}" if symbol else f"{repo}:{path}", "by repository, path and symbol"
            key = self.naming(_TITLES, own)
        if key is not None:
            self.used.add(key)
            return identifier(self.given[key]), f"by the property {key}"
        self.used.add("id")
        return own, AS_THEY_ARE

    def kind(self, labels: tuple[str, ...]) -> str:
        """Return the kind of a node: its property of that name, else its labels except those that a library sets."""
        if (given := identifier(self.use(("kind",)))) is not None:
            return given
        if not labels:
            held = self.use(("labels",))
            parts = held.split(":") if isinstance(held, str) else held if isinstance(held, list) else ()
            labels = tuple(filter(None, map(identifier, parts)))
        own = [label for label in labels if not label.startswith("__")]
        return ":".join(own or labels) or identifier(self.use(_KINDS)) or ""


def _no_element_id(name: str | None) -> str | None:
    return None if name is None or is_element_id(name) else name


def described(node: GraphNode) -> str:
    """Return a node as messages show it."""
    shown = ", ".join(f"{key}: {shortened(str(value), 30)}" for key, value in list(node.properties.items())[:3])
    return f"{':'.join(node.labels)} {{{shown}}}".strip()
