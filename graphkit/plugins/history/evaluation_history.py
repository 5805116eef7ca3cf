"""Evaluations over time: what results files and folders hold, the change since the last comparable one, and a gate.

Two evaluations are comparable if they are of one system, by the same gold, over as many questions, and count failed
questions alike; a change is that of a measure which both have. Values are those that gates hold, failures included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from graphkit.analysis.config import Config
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.layers import score_layers
from graphkit.database.store import Store
from graphkit.errors import InputError, unreadable_file
from graphkit.graph.queries import cypher
from graphkit.measures.registry import lower_is_better
from graphkit.records.bounds import over
from graphkit.records.option_values import Drop
from graphkit.records.repetition_names import system_of
from graphkit.records.scores import GRAPHKIT
from graphkit.records.words import counted
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation
from graphkit.scoring.results_folder import MANIFEST, SUMMARY, summary_fields

#: The bars of a sparkline, from the lowest value to the highest.
BARS = "▁▂▃▄▅▆▇█"

GATE = "fail-on-drop"


@dataclass(frozen=True)
class Entry:
    """One evaluation of a run.

    Attributes
    ----------
    where
        Its file or folder, or "graph".
    at, dated_by_file
        When it was evaluated (ISO), and whether that is only the time of the file.
    graphkit, commit, ran
        The version, the commit of the working folder or of the run, and when the run ran; None if unknown.
    values, layers
        The value of each measure, with failures; and of each layer, with ``overall``.
    changes
        The change of each measure since the last comparable evaluation, whose time is ``since``.
    """

    run: str
    where: str
    at: str
    dated_by_file: bool
    graphkit: str | None
    commit: str | None
    ran: str | None
    gold_hash: str | None
    questions: int
    failed: int
    missing: int
    failed_as: str
    values: Mapping[str, float]
    layers: Mapping[str, float | None] = field(default_factory=dict)
    changes: Mapping[str, float] = field(default_factory=dict)
    since: str | None = None

    @property
    def system(self) -> str:
        """The name of the system that the run may repeat."""
        return system_of(self.run) or self.run

    @property
    def basis(self) -> tuple[object, ...]:
        """The system, gold, number of questions and handling of failures that comparable evaluations share."""
        return self.system, self.gold_hash, self.questions, self.failed_as

    @property
    def content(self) -> tuple[object, ...]:
        """The fields that are equal in evaluations that repeat each other."""
        return self.run, self.commit, self.basis, tuple(sorted(self.values.items()))

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read_history(places: Iterable[Path], runs: Sequence[str] = (), config: Config | None = None) -> list[Entry]:
    """Return the evaluations in results files (.json), results folders, and folders of both, the earliest first.

    Parameters
    ----------
    runs
        The runs or systems to return; by default all.

    Raises
    ------
    InputError
        A place holds no results, or none of a run that is named.
    """
    found: list[Entry] = []
    for place in places:
        files = [*_results_in(place)]
        if not files:
            remedy = "Name files of `graphkit evaluate -o NAME.json`, or folders that hold some."
            raise InputError("there are no results here", where=str(place), remedy=remedy)
        for file in files:
            found += _entries(file, config)
    return _in_order(found, runs)


def _in_order(found: Iterable[Entry], runs: Sequence[str]) -> list[Entry]:
    """Return the evaluations of some runs or systems, by default of all, in order and with their changes."""
    entries = list(found)
    known = sorted({one.run for one in entries})
    for run in runs:
        if run not in known and run not in {one.system for one in entries}:
            there = f"There are: {', '.join(known)}." if known else "There is none yet."
            raise InputError(f"no evaluation is of the run {run!r}", remedy=there)
    chosen = (one for one in entries if not runs or one.run in runs or one.system in runs)
    return with_changes(sorted(chosen, key=lambda one: (one.at, one.where, one.run)))


def _results_in(place: Path) -> Iterator[Path]:
    """Yield the results files of a place, and the summaries of results folders."""
    if not place.is_dir():
        yield place
        return
    if (place / MANIFEST).is_file():
        yield place / SUMMARY
        return
    for one in sorted(place.iterdir()):
        if one.is_dir() and (one / MANIFEST).is_file():
            yield one / SUMMARY
        elif one.suffix == ".json" and one.is_file() and _holds_results(one):
            yield one


def _holds_results(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"".join(stream.read(64).split()).startswith(b'{"runs":[')


def _entries(path: Path, config: Config | None) -> Iterator[Entry]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        made = whole.get("made") or {}
        for one in whole["runs"]:
            yield _entry(one, made, path, config)
    except OSError as error:
        raise unreadable_file(path, error) from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        remedy = "`graphkit evaluate -o NAME.json` writes some."
        raise InputError("the file holds no results of graphkit", where=str(path), remedy=remedy) from None


def _entry(one: Mapping[str, Any], made: Mapping[str, Any], path: Path, config: Config | None) -> Entry:
    summaries = {name: Summary(**summary_fields(summary)) for name, summary in one["measures"].items()}
    result = Evaluation(
        run=one["run"],
        dataset=one["dataset"],
        questions=one["questions"],
        failed=one["failed"],
        missing=one["missing"],
        measures=summaries,
        gold_hash=one["gold_hash"],
        failed_as=one["failed_as"],
    )
    held = {name: summary.held(result.failed_as) for name, summary in summaries.items()}
    card = score_layers(result, config)
    ran = made.get("ran", {}).get(result.run, {})
    at = made.get("evaluated_at")
    moment = datetime.fromisoformat(at) if at else datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    return Entry(
        run=result.run,
        where=str(path.parent if path.name == SUMMARY else path),
        at=moment.astimezone(UTC).isoformat(timespec="seconds"),
        dated_by_file=at is None,
        graphkit=made.get("graphkit"),
        commit=ran.get("commit") or made.get("commit"),
        ran=ran.get("at"),
        gold_hash=result.gold_hash,
        questions=result.questions,
        failed=result.failed,
        missing=result.missing,
        failed_as=result.failed_as,
        values={name: value for name, value in held.items() if value is not None},
        layers={**{layer.name: layer.score for layer in card.layers}, "overall": card.overall},
    )


def history_in_graph(store: Store, runs: Sequence[str] = (), config: Config | None = None) -> list[Entry]:
    """Return the evaluations in the graph, the earliest first: the latest one of each run, by when it was loaded.

    Their values are means over the scored questions, without failures.

    Raises
    ------
    InputError
        The graph holds no evaluation, or none of a run that is named.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in store.read(cypher("read/evaluated"), {"own": GRAPHKIT}):
        rows.setdefault(str(row["run"]), []).append(row)
    if not rows:
        remedy = "`graphkit evaluate RUN.jsonl` keeps one; `graphkit history RESULTS` reads files of results."
        raise InputError("the graph holds no evaluation yet", remedy=remedy)
    return _in_order((_in_graph(own, config) for own in rows.values()), runs)


def _in_graph(rows: Sequence[Mapping[str, Any]], config: Config | None) -> Entry:
    first = rows[0]
    summaries = {str(row["measure"]): Summary(row["mean"], row["scored"], row["total"]) for row in rows}
    about = {name: first[name] for name in ("run", "questions", "failed")}
    result = Evaluation(dataset=first["dataset"], missing=0, measures=summaries, failed_as="unscored", **about)
    card = score_layers(result, config)
    return Entry(
        **about,
        where="graph",
        at=datetime.fromisoformat(str(first["at"]).partition("[")[0]).astimezone(UTC).isoformat(timespec="seconds"),
        dated_by_file=False,
        graphkit=first["version"],
        commit=None,
        ran=None,
        gold_hash=first["gold_hash"],
        missing=0,
        failed_as=result.failed_as,
        values={name: summary.mean for name, summary in summaries.items() if summary.mean is not None},
        layers={**{layer.name: layer.score for layer in card.layers}, "overall": card.overall},
    )


def with_changes(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries, the earliest first, with what changed since the last comparable one."""
    import dataclasses

    found: list[Entry] = []
    last: dict[tuple[object, ...], Entry] = {}
    for one in entries:
        before = last.get(one.basis)
        if before is not None:
            both = {name: value - before.values[name] for name, value in one.values.items() if name in before.values}
            one = dataclasses.replace(one, changes=both, since=before.at)
        last[one.basis] = one
        found.append(one)
    return found


def fail_on_drop(entries: Sequence[Entry], drops: Sequence[Drop], last: int) -> list[GateOutcome]:
    """Hold the latest evaluation of each system against the median of its last comparable ones.

    Equal evaluations may come from a steady system, or from one run that was evaluated again. So the median is taken
    with and without repeated evaluations, and the better one is used: evaluating a bad run again doesn't lower it, and
    a steady system isn't outvoted by a few bad runs.

    A system without one fails, and so does a measure that the latest evaluation lacks and an earlier one has: what
    can't be compared mustn't pass.
    """
    latest = {one.system: one for one in entries}
    return [outcome for one in latest.values() for outcome in _held(one, entries, drops, last)]


def _held(one: Entry, entries: Sequence[Entry], drops: Sequence[Drop], last: int) -> Iterator[GateOutcome]:
    before = [other for other in entries[: entries.index(one)] if other.system == one.system]
    earlier = [other for other in before if other.basis == one.basis]
    once = {other.content: other for other in earlier if other.content != one.content}.values()
    others = [other for other in before if other.basis != one.basis]
    if not earlier:
        what = f"there is no earlier evaluation of {one.system} by gold {one.gold_hash} to compare with"
        yield GateOutcome(GATE, one.run, False, what + _differing(others, one))
        return
    elsewhere = [other for other in earlier if other.at == one.at and other.where != one.where]
    if undecided := [other.where for other in elsewhere if other.content != one.content]:
        what = (
            f"which evaluation is the latest is unclear: {one.where} and {undecided[-1]} have the same time, {one.at}"
        )
        yield GateOutcome(GATE, one.run, False, what)
        return
    own = {drop.measure: drop.value for drop in drops if drop.measure is not None}
    anything = next((drop.value for drop in drops if drop.measure is None), None)
    known = dict.fromkeys(name for other in (*earlier, one) for name in other.values)
    chosen = {name: own.get(name, anything) for name in ((*known, *own) if anything is not None else own)}
    for name, bound in chosen.items():
        taken = ([other.values[name] for other in some if name in other.values] for some in (earlier, once))
        medians = [(median(values[-last:]), len(values[-last:])) for values in taken if values]
        now = one.values.get(name)
        if now is None or not medians:
            passed = now is not None and name not in own
            which = "the latest evaluation" if now is None else "no earlier evaluation"
            if not passed:
                what = f"{name}: {which} {'lacks it' if now is None else 'has it'}"
                yield GateOutcome(GATE, one.run, False, what, name, bound)
            continue
        middle, count = (min if lower_is_better(name) else max)(medians, key=itemgetter(0))
        drop = (now - middle) if lower_is_better(name) else (middle - now)
        assert bound is not None
        passed = not over(drop, bound)
        of = f"the median {middle:.4f} of {'the last evaluation' if count == 1 else f'the last {count}'}"
        asked = f" ({last} asked for)" if count < last else ""
        side = "worse than" if drop > 0 else "better than" if drop < 0 else "off"
        what = f"{name} is {now:.4f}, {abs(drop):.4f} {side} {of}{asked}{_differing(others, one)}"
        yield GateOutcome(GATE, one.run, passed, what, name, bound, drop, n=count)


def _differing(others: Sequence[Entry], one: Entry) -> str:
    """Return which earlier evaluations don't compare, and why."""
    if not others:
        return ""
    gold = sorted({str(other.gold_hash) for other in others if other.gold_hash != one.gold_hash})
    asked = sum(other.gold_hash == one.gold_hash for other in others)
    parts = [f"{counted(len(others) - asked, 'evaluation')} by other gold ({', '.join(gold)})"] if gold else []
    parts += [f"{counted(asked, 'evaluation')} of other questions or with other options"] if asked else []
    return f"; left out: {' and '.join(parts)}"


def sparkline(values: Sequence[float | None]) -> str:
    """Return values as bars between the lowest and the highest; a missing one is a space.

    >>> sparkline([0.0, 0.5, None, 1.0]), sparkline([0.7, 0.7])
    ('▁▅ █', '▄▄')
    """
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    steps = len(BARS) - 1
    places = [None if value is None else (value - low) / (high - low) * steps if high > low else 3 for value in values]
    return "".join(" " if place is None else BARS[round(place)] for place in places)
