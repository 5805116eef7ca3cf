"""The names that a graph has (labels, types, properties, values), and the nearest to one that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

#: Runs a query that graphkit wrote with parameters, and returns its rows.
Read = Callable[[str, Mapping[str, object]], Iterable[Sequence[object]]]

#: The most values of one property among which a near one is looked for.
MOST_VALUES = 20_000

#: How alike two names must be to be near, from 0 to 1: that of difflib's ratio.
NEAR = 0.6

_LABELS = "MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label"
_TYPES = "MATCH ()-[r]->() RETURN DISTINCT type(r) AS type"
_PROPERTIES = "MATCH (n) UNWIND keys(n) AS key RETURN DISTINCT key"
_EDGE_PROPERTIES = "MATCH ()-[r]->() UNWIND keys(r) AS key RETURN DISTINCT key"
_VALUES = "MATCH (n) WHERE n.{name} IS NOT NULL RETURN DISTINCT n.{name} AS value LIMIT {most}"


@dataclass(slots=True)
class KnownNames:
    """The names of a graph, read when they are first asked for.

    Parameters
    ----------
    read
        Runs a query over the graph.
    """

    read: Read
    _names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _values: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of nodes, sorted."""
        return self._all("labels", _LABELS)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of relationships, sorted."""
        return self._all("types", _TYPES)

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties of nodes and relationships, sorted."""
        return self._all("properties", _PROPERTIES, _EDGE_PROPERTIES)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the texts that a property of nodes has, sorted; at most 20,000."""
        if name not in self._values:
            rows = self.read(_VALUES.format(name=_quoted(name), most=MOST_VALUES), {})
            self._values[name] = tuple(sorted(row[0] for row in rows if isinstance(row[0], str)))
        return self._values[name]

    def nodes(self, values: Mapping[str, object], shown: str | None = None) -> tuple[str, ...]:
        """Return what nodes with some values have as a further property (by default their ids), sorted."""
        key = repr((sorted(values.items(), key=repr), shown))
        if key not in self._values:
            given = {f"v{index}": value for index, value in enumerate(values.values())}
            terms = " AND ".join(f"n.{_quoted(name)} = $v{index}" for index, name in enumerate(values))
            value = f"n.{_quoted(shown)}" if shown is not None else "coalesce(n.id, '')"
            rows = self.read(f"MATCH (n) WHERE {terms} RETURN DISTINCT {value} AS value LIMIT {MOST_VALUES}", given)
            self._values[key] = tuple(sorted(str(row[0]) for row in rows if row[0] is not None))
        return self._values[key]

    def _all(self, kind: str, *queries: str) -> tuple[str, ...]:
        if kind not in self._names:
            self._names[kind] = tuple(sorted({str(row[0]) for query in queries for row in self.read(query, {})}))
        return self._names[kind]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the most alike of some names, whatever their case; None if none is near.

    >>> nearest("CALL", ["CALLS", "READS"]), nearest("Flask", ["flask"]), nearest("x", ["CALLS"])
    ('CALLS', 'flask', None)
    """
    by_lower: dict[str, str] = {}
    for one in names:
        by_lower.setdefault(one.lower(), one)
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    return by_lower[found[0]] if found else None
