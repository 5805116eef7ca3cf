"""Reads questions of other forms: their fields, paths and names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.known_ids import read_known
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import parse_record
from graphkit.files.stale_gold import stale_gold
from graphkit.imports.names import IdPattern, Names
from graphkit.plugins.gold.datasets.question_fields import field_of, fields_of, gold_kinds
from graphkit.plugins.gold.datasets.question_rows import question_rows, refuse_run
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.records.models import Question
from graphkit.records.path_texts import FORM, SecondNames, SecondNamesOf, WrittenPath, chained, text_of_steps
from graphkit.records.structs import QuestionStruct, struct_of
from graphkit.records.words import counted

_NO_GOLD = "the question has no gold: only measures of cost and time can score it"
_AS_RELATIONS = (
    "every second name of paths such as `A -> b -> C` is read as a relation, since none of them is a node elsewhere "
    "(`--second-names nodes` reads them as nodes)"
)
#: How many bad gold steps are reported one by one.
_REPORTED = 10


@dataclass
class GivenQuestions:
    """Questions in a file of another form.

    Attributes
    ----------
    names
        Finds the ids of names in the knowledge graph.
    second
        What every second name of a path is; by default the file or the graph decides it.
    former
        The questions of the dataset by id, so that those without an id keep the one that they had.
    mapped
        The fields of rows that are mapped by hand.
    fields
        The fields that the file has, once it was read.
    by_row
        The ids that questions without one took from the former question in their row, whose text was another.
    """

    path: Path
    names: GraphNames
    second: SecondNames | None = None
    former: Mapping[str, Question] = field(default_factory=dict)
    mapped: FieldMap | None = None
    fields: set[str] = field(default_factory=set)
    by_row: set[str] = field(default_factory=set)

    def read(self, problems: Problems) -> Iterator[tuple[str, Question]]:
        """Yield the question of each usable row with its place; the others are added to the problems."""
        rows: list[tuple[str, dict[str, Any]]] = []
        for where, given in question_rows(
            self.path, problems, (lambda _: None) if self.mapped is None else self.mapped.rows
        ):
            try:
                row = given if self.mapped is None else self.mapped.question(given)
            except InputError as error:
                problems.add(Problem(where, error.what, _name(given), error.remedy))
                continue
            self.fields.update(meaning[0] for name in row if (meaning := field_of(name)) is not None)
            try:
                fields, unused = fields_of(row)
            except ValueError as error:
                problems.add(Problem(where, str(error), _name(row), FORM))
                continue
            if "question" not in fields and self.mapped is None:
                refuse_run(given, self.path, where)
            self.fields.update(fields)
            for name in unused:
                problems.ignore(where, name)
            rows.append((where, fields))
        _read_paths(rows, problems, self.names, self.second)
        self.by_row |= _number([fields for _, fields in rows], self.former)
        taken: dict[str, str] = {}
        for where, fields in rows:
            question = parse_record(Question, json.dumps(fields).encode(), where, problems)
            if question is None:
                continue
            if (first := taken.setdefault(question.id, where)) != where:
                remedy = "Give each question an id of its own, or leave the ids out."
                problems.add(Problem(where, f"the id is already used by {first}", question.id, remedy))
                continue
            if question.answerable is not False and not any(gold_kinds([question]).values()):
                problems.note(Problem(where, _NO_GOLD, question.id))
            yield where, self.names.named(question)


def _number(rows: Sequence[dict[str, Any]], former: Mapping[str, Question]) -> set[str]:
    """Give ids to rows without one: that of the former question with this text, else in this place, else a free one.

    Return those that were given by their places.
    """
    taken = {str(fields["id"]) for fields in rows if "id" in fields}
    texts = {one.question: name for name, one in former.items() if name not in taken}
    new = []
    for place, fields in enumerate(rows, 1):
        if "id" not in fields and (name := texts.pop(str(fields.get("question")), None)) is not None:
            fields["id"] = name
            taken.add(name)
        elif "id" not in fields:
            new.append((f"q{place}", fields))
    by_row, free = set(), free_ids({*taken, *former})
    for name, fields in new:
        if name in former and name not in taken:
            by_row.add(name)
            fields["id"] = name
        else:
            fields["id"] = next(free)
        taken.add(fields["id"])
    return by_row


def free_ids(taken: Collection[str]) -> Iterator[str]:
    """Yield ids for questions without one: ``q1``, ``q2`` and so on, without those that are taken."""
    return (name for number in count(1) if (name := f"q{number}") not in taken)


def note_stale(dataset: Dataset, questions: Iterable[Question], places: Mapping[str, str], problems: Problems) -> None:
    """Note which gold steps the knowledge graph of a dataset doesn't hold, and why: their questions aren't scored."""
    reading = Problems("skip")
    structs = [struct_of(QuestionStruct, question) for question in questions]
    stale = stale_gold(dataset, dataset.commit_graph(reading), reading, structs)
    found = [(name, reason) for name, reasons in stale.items() for reason in reasons]
    for name, reason in found[:_REPORTED]:
        problems.note(Problem(places.get(name, str(dataset.folder)), f"{reason}; the question won't be scored", name))
    if (more := len(found) - _REPORTED) > 0:
        what = f"{counted(more, 'more gold step')} aren't in the knowledge graph; `graphkit check` lists them"
        problems.note(Problem(places.get(found[-1][0], str(dataset.folder)), what, found[-1][0]))


def with_relevant(questions: Sequence[Question]) -> tuple[list[Question], bool]:
    """Return the questions, with the nodes of their required steps as relevant ids if none of them has any.

    The second value says whether they got any. Of alternatives, the nodes that all of them have are required.
    """
    if any(question.relevant or question.evidence_sets for question in questions):
        return list(questions), False
    made = [question.model_copy(update={"relevant": nodes_of_gold(question)}) for question in questions]
    return made, any(question.relevant for question in made)


def nodes_of_gold(question: Question) -> dict[str, float]:
    """Return the nodes of a question's required steps, each with the gain 1."""
    groups: dict[object, list[dict[str, float]]] = {}
    for number, path in enumerate(question.paths):
        nodes = {node: 1.0 for step in path.steps if not step.optional for node in (step.source, step.target)}
        groups.setdefault(path.group or number, []).append(nodes)
    shared = ({node for node in paths[0] if all(node in other for other in paths)} for paths in groups.values())
    kept = {node for nodes in shared for node in nodes}
    return {node: 1.0 for paths in groups.values() for path in paths for node in path if node in kept}


def _read_paths(
    rows: list[tuple[str, dict[str, Any]]], problems: Problems, names: GraphNames, second: SecondNames | None
) -> None:
    """Turn the written paths of all rows into those of records."""
    written = [(where, path) for where, row in rows for path in row.get("paths", ()) if isinstance(path, WrittenPath)]
    alternation = SecondNamesOf([path for _, path in written], names.holds)
    decided = second or alternation.decided()
    if decided is None:
        where = next(where for where, path in written if path is alternation.paths[0])
        relations, nodes = alternation.examples()
        what = "every second name of the paths may be a relation or a node, and nothing in the file decides it"
        details = [f"--second-names relations reads {relations}", f"--second-names nodes reads {nodes}"]
        raise InputError(what, where=where, details=details, remedy="Add one of these options.")
    for where, row in rows:
        paths = row.get("paths", ())
        read = [path for path in paths if isinstance(path, WrittenPath) and path.may_alternate and not path.stated]
        if second is None and decided == "relations" and read:
            text = text_of_steps([(one["source"], one["relation"], one["target"]) for one in read[0].steps(decided)])
            problems.note(Problem(where, _AS_RELATIONS, text))
        if paths:
            row["paths"] = list(_as_records(paths, decided))


def _as_records(paths: Sequence[Any], second: SecondNames) -> Iterator[Any]:
    for listed, group in groupby(paths, lambda path: isinstance(path, WrittenPath)):
        if not listed:
            yield from group
        elif second == "nodes":
            yield from ({"steps": path.steps("relations" if path.stated else "nodes")} for path in group)
        else:
            yield from (
                {"steps": [step for path in triples for step in path.steps(second)]} for triples in chained([*group])
            )


def _name(row: dict[str, Any]) -> str | None:
    return next((str(row[name]) for name in row if name.casefold() == "id" and row[name]), None)


@dataclass
class GraphNames:
    """Ids and edges of a knowledge graph, for the names in gold. Without a graph, names stay as they are."""

    folder: Path | None
    table: Mapping[str, str] | None = None
    pattern: IdPattern | None = None
    steps: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.ids: set[str] = set()
        self.how: dict[str, int] = {}
        if self.folder is not None:
            known, self._edges = read_known(Dataset(self.folder, questions=False), ())
            self.ids = known.artifacts | known.edges
            self._names = Names(self.ids, self.table, self.pattern)
            self.how = self._names.how
            # Looks names up without counting how they were found.
            self._silent = self._names.of(self.ids)

    def holds(self, name: str) -> bool:
        """Return whether a name is that of a node of the knowledge graph."""
        return self.folder is not None and self._silent.id_of(name) in self.ids

    def named(self, question: Question) -> Question:
        """Return the question with ids and relations of the knowledge graph."""
        if self.folder is None:
            return question
        paths = []
        for path in question.paths:
            steps = []
            for step in path.steps:
                ends = self._names.id_of(step.source), self._names.id_of(step.target)
                edge = self._edges.placed(ends[0], step.relation, ends[1])
                self.steps[edge.held] += 1
                named = {"source": edge.source, "relation": edge.relation, "target": edge.target}
                steps.append(step.model_copy(update=named))
            paths.append(path.model_copy(update={"steps": tuple(steps)}))
        relevant = {self._names.id_of(name): gain for name, gain in question.relevant.items()}
        evidence = tuple(tuple(map(self._names.id_of, one)) for one in question.evidence_sets)
        of = self._silent.id_of  # an absent edge may end at what no graph knows
        absent = tuple(
            one.model_copy(update={"source": of(one.source), "target": of(one.target)}) for one in question.absent
        )
        update = {"paths": tuple(paths), "relevant": relevant, "evidence_sets": evidence, "absent": absent}
        return question.model_copy(update=update)
