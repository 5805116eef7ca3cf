"""The data of the overview that the script draws: the table of questions and the distributions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from graphkit.analysis.broken_edges import BrokenEdges
from graphkit.analysis.causes import CAUSES
from graphkit.analysis.standings import Standings
from graphkit.graph.beside import kinds_beside
from graphkit.measures.outcome import STAGES
from graphkit.measures.registry import bounds_of, known_measure, lower_is_better
from graphkit.report.board_view import shared_beginning
from graphkit.report.data import ReportData, RunData
from graphkit.report.escaping import visible
from graphkit.report.spine_view import ANSWERS, SIGNS


def summary(data: ReportData, broken: BrokenEdges, standings: Standings) -> dict[str, Any]:
    """Return the data that the page's script needs before a question is opened."""
    names = _measure_names(data)
    values = [_values(data, run, names) for run in data.runs]
    needs = [sorted({*itertools.chain(*rows)}) for rows in zip(*broken.needs, strict=True)]
    return {
        "measures": [
            {
                "name": visible(name),
                "definition": getattr(known_measure(name), "definition", "given by others"),
                "lower": lower_is_better(name),
                "range": _range(name, [one for run in values for one in run[place] if one is not None]),
            }
            for place, name in enumerate(names)
        ],
        "questions": data.questions,
        **({"ids": ids} if (ids := data.escaped_ids()) else {}),
        "stages": STAGES,
        "causes": CAUSES,
        "beginning": shared_beginning([visible(run.evaluation.run) for run in data.runs]),
        "best": standings.order[0],
        "baseline": standings.baseline,
        "gold_hash": data.runs[0].evaluation.gold_hash,
        "gold_hashes": _gold_hashes(data),
        "said": {"answers": ANSWERS, "signs": SIGNS},
        "edges": {"rows": [[row.kind, visible(row.name)] for row in broken.rows], "needs": needs},
        **_vocabulary(data),
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": of_run,
                "means": [one.mean if (one := run.evaluation.measures.get(name)) else None for name in names],
                "questions": run.outcomes,
                "missed": missed,
                # Runs differ where other alternatives count.
                **({"needs": own} if [*map(list, own)] != needs else {}),
                **_listed(data, run),
            }
            for run, of_run, missed, own in zip(data.runs, values, broken.missed, broken.needs, strict=True)
        ],
    }


def _gold_hashes(data: ReportData) -> list[str | None]:
    """Return the hash of each question's gold, which a grade keeps."""
    found = {visible(row.question): row.gold_hash for row in data.runs[0].evaluation.rows}
    return [found.get(question["id"]) for question in data.questions]


def _vocabulary(data: ReportData) -> dict[str, Any]:
    """Return what the script needs to know of the kinds of records that lie beside some run."""
    kinds = (kind for name, kind in kinds_beside().items() if any(run.beside[name] for run in data.runs))
    return {word: meaning for kind in kinds for word, meaning in kind.vocabulary.items()}


def _listed(data: ReportData, run: RunData) -> dict[str, Any]:
    """Return what the table says of the records that lie beside a run."""
    found: dict[str, Any] = {}
    for name, kind in kinds_beside().items():
        if run.beside[name]:
            by_name = {visible(question): some for question, some in run.beside[name].items()}
            found |= kind.listed([by_name.get(question["id"], ()) for question in data.questions])
    return found


def _measure_names(data: ReportData) -> list[str]:
    """Return every measure for which a run has a value: the computed ones first, then those of other tools."""
    return list(dict.fromkeys(name for run in data.runs for name in run.evaluation.measures))


def _values(data: ReportData, run: RunData, names: Sequence[str]) -> list[list[float | None]]:
    """Return by measure the value of each question, or None if there is none."""
    places = {name: place for place, name in enumerate(run.evaluation.measures)}
    shown = {visible(question): values for question, values in run.values.items()}
    found = [shown.get(question["id"]) for question in data.questions]
    return [
        [None if values is None or isinstance(value := values[place], str) else round(value, 4) for values in found]
        if (place := places.get(name)) is not None
        else [None] * len(found)
        for name in names
    ]


def _range(name: str, values: Sequence[float]) -> list[float]:
    """Return the range of a distribution: the measure's bounds, else the lowest and highest value."""
    lowest, highest = bounds_of(name)
    low = lowest if lowest is not None else min(values, default=0.0)
    high = highest if highest is not None else max(values, default=low)
    return [round(low, 4), round(high if high > low else low + 1, 4)]
