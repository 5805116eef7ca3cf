"""What the page shows: scores from graphkit's own measures, and for each question a small record to draw from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from graphkit.cascade import STAGES, verdict
from graphkit.commits import CommitGraph, Version
from graphkit.errors import InputError, MeasureError
from graphkit.explain import sentence
from graphkit.identity import path_of, repo_of, symbol_of
from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Edge
from graphkit.measures.coherence import version_pairs
from graphkit.measures.edges import best_alternatives, contained
from graphkit.measures.paths import Divergence, first_divergences
from graphkit.measures.registry import DEFAULT_MEASURES, parse_measure, resolve_measures
from graphkit.report.layout import draw
from graphkit.results import Evaluation
from graphkit.scoring import LOWER_IS_BETTER, Config, Scorecard, score_layers
from graphkit.sources.dataset import Dataset
from graphkit.sources.lean import LeanAnswer
from graphkit.sources.records import RecordReader
from graphkit.sources.report import OnError, Report
from graphkit.workflow import evaluate

#: How much of a text is shown: of a chunk, of a question in the table, and of an answer.
CHUNK_TEXT = 400
LISTED_TEXT = 240
ANSWER_TEXT = 8000

#: How much of a long record is drawn or listed; the rest is counted.
EXTRA_EDGES = 80
CHUNKS = 50
PAIRS = 40

#: How many questions share a block of details: what is parsed when one of them is opened.
BLOCK = 25

#: The bits of a row, by which the table is filtered.
FAILED, ABSENT, COMPLETE, TURN, INCOHERENT, OFF_PIN = 1, 2, 4, 8, 16, 32

NO_REPOSITORY = "(no repository)"

_HIDDEN = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = {code: f"\\u{code:04x}" for code in _HIDDEN if code not in (0x09, 0x0A, 0x0D)} | {0x0D: None}


def visible(text: str, limit: int | None = None) -> str:
    r"""Return text with control characters and those that turn the reading direction written out, cut to a length.

    >>> visible("red \x1b[31m, and so on", limit=12)
    'red \\u001b[…'
    """
    cut = text if limit is None or len(text) <= limit else text[: limit - 1]
    plain = cut.translate(_VISIBLE)
    return plain if cut is text and (limit is None or len(plain) <= limit) else plain[: (limit or 0) - 1] + "…"


@dataclass
class RunData:
    """One run: its scores, and the place of each question's details."""

    evaluation: Evaluation
    card: Scorecard
    file: Path
    commits: CommitGraph
    values: dict[str, tuple[float | str, ...]]
    blocks: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    found: list[tuple[int, int]] = field(default_factory=list)
    judged: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class ReportData:
    """The dataset and its runs, as far as they are known before the details are read."""

    title: str
    dataset: Dataset
    measures: tuple[Measure, ...]
    runs: list[RunData]
    config: Config
    questions: list[list[Any]] = field(default_factory=list)


def gather(
    runs: Sequence[Path],
    dataset: Path | None = None,
    *,
    title: str | None = None,
    config: Config | None = None,
    on_error: OnError = "fail",
    reports: list[Report] | None = None,
) -> ReportData:
    """Score the runs, all of one dataset.

    Parameters
    ----------
    reports
        Takes what there is to tell about each run's records.

    Raises
    ------
    InputError
        A file can't be used, the runs are of several datasets, or two of them have the same name.
    """
    chosen = config if config is not None else Config()
    measures = _measures(chosen)
    source: Dataset | None = Dataset(dataset) if dataset is not None else None
    found: list[RunData] = []
    for file in runs:
        if not file.exists():
            raise InputError("there is no such file", where=str(file), remedy="Check the path and its spelling.")
        own = Dataset.of_run(file) if dataset is None or source is None else source
        if source is not None and own.questions_file.resolve() != source.questions_file.resolve():
            raise InputError("the run is of another dataset", where=str(file), remedy="Write a page for each dataset.")
        source = own
        report = Report(on_error)
        result = evaluate(file, source, measures=measures, report=report)
        if reports is not None:
            reports.append(report)
        if any(one.evaluation.run == result.run for one in found):
            raise InputError(f"another file holds the run {result.run!r}, too", where=str(file))
        values = {row.question: row.values for row in result.rows}
        card = score_layers(result, chosen)
        commits = found[0].commits if found else source.commit_graph(Report("skip"))
        found.append(RunData(dataclasses.replace(result, rows=()), card, file, commits, values))
    if source is None:
        raise InputError("no run was named")
    return ReportData(title or f"graphkit: {source.name}", source, measures, found, chosen)


def _measures(config: Config) -> tuple[Measure, ...]:
    """Return what is computed: the defaults, what the layers ask for as far as it is known, and the two of commits."""
    names = dict.fromkeys([*DEFAULT_MEASURES, *config.measures(), "Incoherent", "OffPin"])
    known: list[str] = []
    for name in names:
        try:
            parse_measure(name)
        except MeasureError:
            continue
        known.append(name)
    return resolve_measures(known)


# Details -------------------------------------------------------------------------------------------------------------


def details(data: ReportData) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (run, block, details by the number of the question), and fill in what the table shows of each question."""
    for number, run in enumerate(data.runs):
        block: dict[str, Any] = {}
        count = 0
        for place, question, answer in _joined(data.dataset, run.file):
            case = Case(question, answer, run.commits)
            _list(data, place, question)
            shown, flags, share = detail(case, run.values.get(question.id, ()))
            _put(run.blocks, place, count, -1)
            _put(run.flags, place, flags, 0)
            _put(run.found, place, share, (0, 0))
            judged = _judged(case, run.evaluation.invalid.get(question.id), shown)
            _put(run.judged, place, judged, ("undecided", "undecided", STAGES[-1]))
            block[str(place)] = shown
            if len(block) == BLOCK:
                yield number, count, block
                block, count = {}, count + 1
        if block:
            yield number, count, block


def _judged(case: Case, invalid: str | None, shown: dict[str, Any]) -> tuple[str, str, str]:
    """Return how the answer and the path of a question are judged, and the stage that it ended at."""
    judged = verdict(case, invalid)
    stage = judged.stage
    shown["stage"] = [stage.name, visible(stage.reason, CHUNK_TEXT), [visible(one) for one in stage.missing[:CHUNKS]]]
    shown["undecided"] = visible(judged.undecided, CHUNK_TEXT)
    return _word(judged.answer), _word(judged.path), stage.name


def _word(judged: bool | None) -> str:
    return "undecided" if judged is None else "right" if judged else "wrong"


def _put(items: list[Any], place: int, value: Any, empty: Any) -> None:
    while len(items) <= place:
        items.append(empty)
    items[place] = value


def _list(data: ReportData, place: int, question: Any) -> None:
    if place < len(data.questions) and data.questions[place]:
        return
    row = [
        visible(question.id),
        visible(question.question, LISTED_TEXT),
        visible(question.category or ""),
        question.difficulty or "",
    ]
    _put(data.questions, place, row, [])


def _joined(dataset: Dataset, run_file: Path) -> Iterator[tuple[int, Any, Any]]:
    """Yield (place, question, answer or None); both files are read side by side, and only the strays are kept."""
    silent = Report("skip")
    questions: dict[str, tuple[int, Any]] = {}
    answers: dict[str, Any] = {}
    seen = 0
    answered: set[str] = set()
    both = zip_longest(dataset.questions(silent), RecordReader(run_file, LeanAnswer, silent))
    for listed, recorded in both:
        if listed is not None:
            questions[listed[1].id] = (seen, listed[1])
            seen += 1
        if recorded is not None and recorded[1].question_id not in answered:
            answered.add(recorded[1].question_id)
            answers[recorded[1].question_id] = recorded[1]
        for name in {one for one in (listed and listed[1].id, recorded and recorded[1].question_id) if one}:
            if name in questions and name in answers:
                yield *questions.pop(name), answers.pop(name)
    for place, question in questions.values():
        yield place, question, None


class _Table(dict[Any, int]):
    """Numbers things in the order in which they are first asked for."""

    def number(self, item: Any) -> int:
        return self.setdefault(item, len(self))


def detail(case: Case, values: Sequence[float | str]) -> tuple[dict[str, Any], int, tuple[int, int]]:
    """Return what is shown of one question, its bits, and how many required edges were found out of how many."""
    question: Any = case.question
    answer = case.answer
    statuses, share = edge_statuses(case)
    divergences = first_divergences(case) if answer is not None and answer.error is None else []
    turned = _turns(case, statuses, divergences)
    nodes, commits = _Table(), _Table()
    drawn, dropped = _drawn_edges(case, statuses, nodes)
    drawing = draw(
        [repo_of(node) or NO_REPOSITORY for node in nodes],
        [[(nodes[one[0]], nodes[one[2]]) for one in path.edges] for path in case.gold],
        [[(nodes[a], nodes[b]) for a, _, b in walk if a in nodes and b in nodes] for walk in case.walked_paths],
        [(nodes[edge[0]], nodes[edge[2]]) for edge in drawn],
    )
    pairs = incoherent_pairs(case)
    read = _read_at(case)
    gold_nodes = {node for path in case.gold for edge in path.edges for node in (edge[0], edge[2])}
    left_at = {one.node for one in divergences}
    boxes = []
    off_pin = bool(case.pins) and any(case.pins.get(repo) != sha for repo, sha in case.touched)
    for node, box in zip(nodes, drawing.boxes, strict=True):
        repo = repo_of(node)
        shas = read.get(node, [])
        pin = case.pins.get(repo or "")
        state = 0
        if not shas and pin:
            shas, state = [pin], 1
        elif shas and case.pins and any(sha != pin for sha in shas):
            state = 2
        numbers = [commits.number((repo, sha)) for sha in shas]
        marks = (1 if node in gold_nodes else 0) | (2 if node in left_at else 0)
        boxes.append(
            [visible(node), _label(node), _file(node), box.x, box.y, numbers, state, marks, case.ranks.get(node, 0)]
        )
    listed = []
    for one, other, rule, count in pairs[:PAIRS]:
        listed.append([_commit(commits, one), _commit(commits, other), rule, count])
    chunks = [_chunk(case, chunk, commits) for chunk in case.chunks[:CHUNKS]]
    where = {edge: (name, position) for edge, name, position in _positions(case)}
    flags = FAILED * (answer is not None and answer.error is not None) | ABSENT * (answer is None)
    flags |= COMPLETE * (not flags and 0 < share[1] == share[0])
    flags |= TURN * bool(turned) | INCOHERENT * bool(pairs) | OFF_PIN * off_pin
    shown = {
        "question": visible(question.question, ANSWER_TEXT),
        "gold": visible(question.gold_answer, ANSWER_TEXT) if question.gold_answer else None,
        "facts": [visible(fact.text, CHUNK_TEXT) for fact in question.facts],
        "answer": visible(answer.answer, ANSWER_TEXT) if answer is not None and answer.answer else None,
        "error": visible(answer.error, ANSWER_TEXT) if answer is not None and answer.error is not None else None,
        "values": [_value(one) for one in values],
        "words": [visible(_words(case, one)) for one in divergences],
        "size": [drawing.width, drawing.height],
        "lanes": [[visible(lane.name), lane.y, lane.height] for lane in drawing.lanes],
        "nodes": boxes,
        "edges": [
            [
                nodes[edge[0]],
                nodes[edge[2]],
                visible(edge[1] or ""),
                status,
                line.path,
                line.x,
                line.y,
                *([visible(where[edge][0]), where[edge][1]] if edge in where else []),
            ]
            for (edge, status), line in zip(drawn.items(), drawing.lines, strict=True)
        ],
        "dropped": dropped,
        "commits": [
            [visible(repo or NO_REPOSITORY), visible(sha or "no commit"), _tag(case, repo, sha)]
            for repo, sha in commits
        ],
        "pairs": listed,
        "more_pairs": max(len(pairs) - PAIRS, 0),
        "chunks": chunks,
        "more_chunks": max(len(case.chunks) - CHUNKS, 0),
        "lost": _lost(case),
    }
    return shown, flags, share


def edge_statuses(case: Case) -> tuple[dict[Edge, str], tuple[int, int]]:
    """Return the status of each distinct edge, and how many required edges were found out of how many.

    ``matched`` is gold and walked, ``missed`` required and not walked, ``optional`` gold that costs nothing to miss,
    ``alternative`` required only by an alternative that another one makes needless, ``extra`` walked and not gold, and
    ``turn`` an extra edge by which a walk left the gold path. So EdgeRecall is the found over the required.
    """
    walked = case.walked
    matched = contained(case.gold_edges, walked, case.untyped)
    required, found = best_alternatives(
        case.units, lambda gold: gold.needed, lambda wanted: contained(wanted, walked, case.untyped)
    )
    ever_needed = {edge for gold in case.gold for edge in gold.needed}
    statuses: dict[Edge, str] = {}
    for gold in case.gold:
        for edge in gold.edges:
            other = "missed" if edge in required else "alternative" if edge in ever_needed else "optional"
            statuses[edge] = "matched" if edge in matched else other
    right = contained(walked, case.gold_edges, case.untyped)
    for walk in case.walked_paths:
        for edge in walk:
            if edge not in right:
                statuses.setdefault(edge, "extra")
    return statuses, (len(found), len(required))


def _turns(case: Case, statuses: dict[Edge, str], divergences: Iterable[Divergence]) -> int:
    """Mark the extra edges by which walks left the gold path, and return how many there are."""
    turns = 0
    for one in divergences:
        edge = (one.node, one.went_by, one.went_to or "")
        if statuses.get(edge) == "extra":
            statuses[edge] = "turn"
            turns += 1
    return turns


def _drawn_edges(case: Case, statuses: dict[Edge, str], nodes: _Table) -> tuple[dict[Edge, str], int]:
    """Return the edges that are drawn, number their nodes, and count the extra edges that are too many."""
    drawn = {edge: status for edge, status in statuses.items() if status != "extra"}
    near = {node for edge in drawn for node in (edge[0], edge[2])}
    extra = [edge for edge, status in statuses.items() if status == "extra"]
    extra.sort(key=lambda edge: edge[0] not in near and edge[2] not in near)
    for edge in extra[:EXTRA_EDGES]:
        drawn[edge] = "extra"
    for edge in drawn:
        nodes.number(edge[0])
        nodes.number(edge[2])
    return drawn, max(len(extra) - EXTRA_EDGES, 0)


def _positions(case: Case) -> Iterator[tuple[Edge, str, int]]:
    """Yield each gold edge with the name of its path and its place there; of repeats the first place is told."""
    seen: set[Edge] = set()
    for number, gold in enumerate(case.gold):
        for position, edge in enumerate(gold.edges):
            if edge not in seen:
                seen.add(edge)
                yield edge, gold.id or str(number), position


def incoherent_pairs(case: Case) -> list[tuple[Version, Version, str, int]]:
    """Return the pairs of retrieved versions that don't fit, with the rule and the number of chunk pairs."""
    if not case.commits or all(version.sha is None for version in case.versions):
        return []
    return [
        (one, other, verdict.rule, count)
        for one, other, verdict, count in version_pairs(case)
        if not verdict.compatible
    ]


def _read_at(case: Case) -> dict[str, list[str]]:
    """Return the commits that each node was read at, by the walk and as a chunk, in the order they are named."""
    found: dict[str, list[str]] = {}

    def note(node: str, sha: str | None) -> None:
        if sha and sha not in found.setdefault(node, []):
            found[node].append(sha)

    for walk in case.walks:
        for step in walk:
            note(step.source, step.source_commit)
            note(step.target, step.target_commit)
    for chunk in case.chunks:
        note(chunk.id, chunk.commit)
    return found


def _commit(commits: _Table, version: Version) -> int:
    return commits.number((version.repo, version.sha))


def _tag(case: Case, repo: str | None, sha: str | None) -> str:
    """Return the tag of a commit, else its branch, as far as they are known."""
    known = case.commits.commits.get((repo, sha)) if repo and sha else None
    return visible((known.tag or known.branch or "") if known else "", 40)


def _label(node: str) -> str:
    """Return the name by which a node is drawn: its symbol, else its file."""
    path = path_of(node)
    return visible(symbol_of(node) or (path.rpartition("/")[2] if path else node), 200)


def _file(node: str) -> str:
    return visible(path_of(node) or "", 200)


def _chunk(case: Case, chunk: Any, commits: _Table) -> list[Any]:
    repo = chunk.repo or repo_of(chunk.id)
    number = commits.number((repo, chunk.commit)) if chunk.commit else -1
    gain = case.question.relevant.get(chunk.id, 0)
    return [visible(chunk.id), gain, chunk.score, number, visible(chunk.text, CHUNK_TEXT) if chunk.text else ""]


def _lost(case: Case) -> list[list[Any]]:
    """Return the relevant ids that were not retrieved with their gains, the largest first."""
    lost = [(gain, node) for node, gain in case.question.relevant.items() if gain > 0 and node not in case.ranks]
    lost.sort(key=lambda pair: (-pair[0], pair[1]))
    return [[visible(node), gain] for gain, node in lost[:CHUNKS]]


def _value(value: float | str) -> float | str:
    return visible(value, CHUNK_TEXT) if isinstance(value, str) else round(value, 4)


def _words(case: Case, one: Divergence) -> str:
    """Return the first divergence as a sentence, the same as ``graphkit failures`` tells it."""
    row = {
        "path": one.path or _nameless(case, one),
        "position": one.position,
        "node": one.node,
        "repo": one.repo,
        "commit": one.commit,
        "expected_by": one.relation,
        "expected": one.expected,
        "went_to": one.went_to,
        "went_by": one.went_by,
    }
    return sentence("wrong-turns", row)


def _nameless(case: Case, one: Divergence) -> str:
    """Return the number of a gold path without a name: the first whose step at that place is the expected one."""
    for number, gold in enumerate(case.gold):
        if gold.id is None and gold.edges[one.position : one.position + 1] == [(one.node, one.relation, one.expected)]:
            return str(number)
    return ""


# Summary -------------------------------------------------------------------------------------------------------------


def summary(data: ReportData) -> dict[str, Any]:
    """Return what the page needs before a question is opened; to be asked for after :func:`details`."""
    names = [str(measure) for measure in data.measures]
    return {
        "measures": [
            {"name": str(one), "definition": one.definition, "lower": not one.higher_is_better} for one in data.measures
        ],
        "questions": data.questions,
        "stages": STAGES,
        "runs": [
            {
                "name": visible(run.evaluation.run),
                "values": _values(data, run, len(names)),
                "means": [run.evaluation.measures[name].mean for name in names],
                "blocks": run.blocks,
                "flags": run.flags,
                "found": run.found,
                "answers": [answer for answer, _, _ in run.judged],
                "paths": [path for _, path, _ in run.judged],
                "stages": [STAGES.index(stage) for _, _, stage in run.judged],
            }
            for run in data.runs
        ],
    }


def _values(data: ReportData, run: RunData, count: int) -> list[list[float | None]]:
    """Return one list a measure: the value of each question, or None where there is none."""
    by_name = {visible(name): values for name, values in run.values.items()}
    empty: tuple[float | str, ...] = ("",) * count
    rows = [by_name.get(question[0] if question else "", empty) for question in data.questions]
    return [[None if isinstance(row[place], str) else round(row[place], 4) for row in rows] for place in range(count)]  # type: ignore[arg-type]


def scoreboard(data: ReportData) -> list[dict[str, Any]]:
    """Return the rows of the scoreboard: a layer, its components, and last the measures that no layer weighs."""
    rows: list[dict[str, Any]] = []
    weighed: set[str] = set()
    for number, layer in enumerate(data.runs[0].card.layers):
        cells = [run.card.layers[number] for run in data.runs]
        rows.append({"name": layer.name, "kind": "layer", "cells": [_layer_cell(cell) for cell in cells]})
        for place, component in enumerate(layer.components):
            weighed.add(component.measure)
            rows.append(
                {
                    "name": component.measure,
                    "kind": "component",
                    "weight": component.weight,
                    "target": component.target,
                    "lower": component.measure in LOWER_IS_BETTER,
                    "cells": [_component_cell(cell.components[place]) for cell in cells],
                }
            )
    others = [measure for measure in data.measures if str(measure) not in weighed]
    if others:
        rows.append({"name": "other measures", "kind": "layer", "cells": [{} for _ in data.runs]})
    for measure in others:
        summaries = [run.evaluation.measures[str(measure)] for run in data.runs]
        cells_of = [{"value": one.mean, "scored": one.scored, "total": one.total, "state": ""} for one in summaries]
        lower = not measure.higher_is_better
        rows.append({"name": str(measure), "kind": "component", "lower": lower, "cells": cells_of})
    return rows


def _layer_cell(layer: Any) -> dict[str, Any]:
    return {"value": layer.score, "coverage": layer.coverage}


def _component_cell(one: Any) -> dict[str, Any]:
    state = "severe" if one.severe else {True: "met", False: "missed", None: ""}[one.met]
    return {"value": one.mean, "scored": one.scored, "total": one.total, "state": state}
