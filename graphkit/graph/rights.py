"""Links in the graph from the principals of a dataset to the nodes that they may read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.rows import JSON, principal_row
from graphkit.graph.writing import BATCH, batched, clear
from graphkit.records.access_rules import AccessRules
from graphkit.records.ids import Places
from graphkit.records.models import AccessRule


def known_access(store: Store, dataset: str, places: Places) -> AccessRules:
    """Return the rules of a dataset's principals as the graph holds them."""
    rows: Iterable[Mapping[str, Any]] = store.read(cypher("read/principals"), {"dataset": dataset})
    rules = (
        AccessRule.model_validate(
            {
                "principal": row["name"],
                **{kind: [json.loads(one) if one.startswith(JSON) else one for one in row[kind]] for kind in _LISTS},
            }
        )
        for row in rows
    )
    return AccessRules({one.principal: one for one in rules}, places=places)


_LISTS = ("allow", "deny")


def write_principals(store: Store, dataset: str, access: AccessRules, done: Callable[[int], None]) -> None:
    """Replace the principals of a dataset; nothing is linked to them yet."""
    clear(store, "load/clear_may_read", {"dataset": dataset}, done)
    store.write(cypher("load/clear_principals"), {"dataset": dataset})
    rows = [principal_row(rule, access) for rule in access.rules.values()]
    store.write(cypher("load/principals"), {"dataset": dataset, "rows": rows})


def grant(store: Store, dataset: str, access: AccessRules, nodes: Iterable[str], done: Callable[[int], None]) -> None:
    """Link the principals to those of some artifacts that each may read, and to their repositories."""
    rows: list[dict[str, Any]] = []
    for some in batched(nodes, BATCH):
        for principal in access.rules:
            ids = [*filter(access.of(principal).may_read, some)]
            rows.append({"name": principal, "ids": ids, "repositories": sorted(access.places.named(ids))})
            if sum(len(row["ids"]) for row in rows) >= BATCH:
                _write(store, dataset, rows, done)
                rows = []
    _write(store, dataset, rows, done)


def _write(store: Store, dataset: str, rows: list[dict[str, Any]], done: Callable[[int], None]) -> None:
    if given := [row for row in rows if row["ids"]]:
        store.write(cypher("load/may_read"), {"dataset": dataset, "rows": given})
        done(len(given))
