"""The nodes and relationships of a bulk load, numbered and sent in packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from graphkit.graph import rows as to_rows
from graphkit.plugins.bulk.bulk_numbers import Numbers
from graphkit.records.access_rules import AccessRules, Rights
from graphkit.records.ids import Places

#: A type of relationships with the labels of its ends.
Kind = tuple[str, str, str]
Properties = Mapping[str, Any]

#: The properties that are times, by label or type; they are given as texts.
TIMES: Mapping[str, Sequence[str]] = {
    "Commit": ("committed_at",),
    "LISTS": ("committed_at",),
    "Deployment": ("at",),
    "Dataset": ("loaded_at",),
    "Run": ("loaded_at",),
}

#: Nodes and relationships that are sent together.
PACK = 40_000


class Importer(Protocol):
    """A database that is being filled. It numbers the nodes of each label from 0, in their order."""

    def send(
        self,
        nodes: Mapping[str, Sequence[Properties]],
        relationships: Mapping[Kind, Sequence[tuple[int, int, Properties]]],
    ) -> None:
        """Add nodes by label, and relationships between these and former ones."""

    def complete(self, schema: Sequence[str]) -> None:
        """Add the constraints and indexes, and make the database visible as a whole."""


class Elements:
    """Collects nodes and relationships, and sends them to an importer."""

    def __init__(self, importer: Importer, numbers: Numbers) -> None:
        self.numbers = numbers
        self._importer = importer
        self._counts: Counter[str] = Counter()
        self._repositories: dict[str, int] = {}
        self._rights: dict[int, Rights] = {}
        self._readable: set[tuple[int, str]] = set()
        self._nodes: dict[str, list[Properties]] = {}
        self._relationships: dict[Kind, list[tuple[int, int, Properties]]] = {}
        self._waiting = 0

    def node(self, label: str, properties: Properties) -> int:
        """Add a node, and return its number among those of its label."""
        number = self._counts[label]
        self._counts[label] += 1
        self._nodes.setdefault(label, []).append(properties)
        self._waiting += 1
        return number

    def relate(self, kind: Kind, start: int, end: int, properties: Properties | None = None) -> None:
        """Add a relationship between two nodes, which may be new."""
        self._relationships.setdefault(kind, []).append((start, end, properties or {}))
        self._waiting += 1

    def repository(self, name: str) -> int:
        """Return the number of a repository, which is added if it is missing."""
        if name not in self._repositories:
            self._repositories[name] = self.node("Repository", {"name": name})
        return self._repositories[name]

    def principals(self, access: AccessRules, dataset: str) -> None:
        """Add principals, which are linked to each artifact that is added later and that they may read."""
        for rule in access.rules.values():
            row = to_rows.principal_row(rule, access)
            number = self.node("Principal", {"dataset": dataset, "name": row["name"], **row["properties"]})
            self._rights[number] = access.of(rule.principal)

    def artifact(self, properties: Properties, places: Places) -> int:
        """Add an artifact, and link the principals that may read it to it and to its repository."""
        number, repo = self.node("Artifact", properties), places.repo(properties["id"])
        for principal, rights in self._rights.items():
            if rights.may_read(properties["id"]):
                self.relate(("MAY_READ", "Principal", "Artifact"), principal, number)
                if repo is not None and (principal, repo) not in self._readable:
                    self._readable.add((principal, repo))
                    self.relate(("MAY_READ", "Principal", "Repository"), principal, self.repository(repo))
        return number

    def name_artifacts(self, ids: Iterable[str], dataset: str, places: Places) -> tuple[dict[str, int], list[str]]:
        """Add the artifacts that are missing from their ids; return the numbers of all, and the new ids."""
        wanted = set(ids)
        found: dict[str, int] = self.numbers.find("Artifact", wanted)
        missing = sorted(wanted - found.keys())
        fresh = {
            name: self.artifact({"dataset": dataset, **to_rows.node_row(name, places), "known": False}, places)
            for name in missing
        }
        if fresh:
            self.numbers.set("Artifact", fresh)
        return found | fresh, missing

    def send(self, *, all_of_them: bool = False) -> None:
        """Send what was added if it is a pack, or all of it."""
        if self._waiting and (all_of_them or self._waiting >= PACK):
            self._importer.send(self._nodes, self._relationships)
            self._nodes, self._relationships, self._waiting = {}, {}, 0
