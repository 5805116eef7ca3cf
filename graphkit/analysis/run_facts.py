"""Facts about a compared run beside its values: its failures, why questions have no value, and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.run_files import records_of
from graphkit.graph.known_names import run_source
from graphkit.graph.queries import cypher
from graphkit.records.usage import Spread, figures_of, summarised
from graphkit.scoring.reason_counts import count_reasons, listed


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about a compared run beside its values.

    Attributes
    ----------
    failed
        The questions with valid gold that it failed on or has no record for, with the reason; None if only the run's
        record has it.
    unscored
        For each measure, the reasons of questions without a value, with their number, without failed questions.
    usage
        Latency, model calls, tokens and cost; None if they aren't known, and ``unknown`` then says why.
    """

    failed: Mapping[str, str | None] = field(default_factory=dict)
    unscored: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    usage: Mapping[str, Spread] | None = None
    unknown: str = "no record of the run was read"


def unscored_in_graph(store: Store, run: str, measure: str) -> Counter[str]:
    """Return why questions have no stored score by a measure, the most frequent reason first, without failures."""
    rows = store.read(cypher("read/unscored"), {"run": run, "measure": measure})
    found, *_ = count_reasons(str(row["reason"]) for row in rows)
    return Counter(dict(found.most_common()))


def facts_in_graph(store: Store, run: str, measures: Iterable[str], failed: Mapping[str, str | None]) -> RunFacts:
    """Return the facts about a run in the graph, whose usage is read from its file: the graph stores none.

    The reasons are those of stored scores; a measure that was computed for the comparison has none.
    """
    unscored = {name: unscored_in_graph(store, run, name) for name in measures}
    try:
        file, _ = run_source(store, run)
    except InputError as error:
        return RunFacts(failed, listed(unscored), unknown=error.what)
    usage = summarised(figures_of(answer) for _, answer in records_of(file, Problems("skip")))
    return RunFacts(failed, listed(unscored), usage)
