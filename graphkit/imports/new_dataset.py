"""Makes a dataset from questions of other forms, and from a knowledge graph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.assets import command_text, refuse_bundled
from graphkit.files.atomic import write_records
from graphkit.files.dataset import Dataset, storable_name
from graphkit.files.dataset_settings import FILE as SETTINGS
from graphkit.files.dataset_settings import set_repositories
from graphkit.files.jsonl import find_file
from graphkit.files.known_ids import read_known
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.imports.graph_importer import ImportedGraph, import_graph
from graphkit.imports.names import IdPattern, Names, id_sources
from graphkit.imports.placing import place_folder
from graphkit.imports.question_fields import fields_of, gold_kinds
from graphkit.imports.question_rows import question_rows
from graphkit.imports.repository_sources import (
    RepositorySource,
    repository_counts,
    repository_line,
    repository_notes,
)
from graphkit.records.models import Question
from graphkit.records.path_texts import (
    FORM,
    SecondNames,
    SecondNamesOf,
    WrittenPath,
    chained,
    paths_of_text,
    text_of_steps,
)
from graphkit.records.structs import EdgeStruct
from graphkit.records.words import counted

#: The files that are made; the questions come last, since they make a folder a dataset.
FILES = ("artifacts", "edges", "questions")

#: Reads a whole database.
EVERYTHING = "MATCH (a)-[r]->(b) RETURN a, r, b"

#: The questions of a dataset that is made without any.
EXAMPLES = (
    (
        "How does a login reach the database?",
        "The login page calls signIn of the API, which reads the table users.",
        "web:src/login.ts#submit -CALLS-> api:auth.py#sign_in -READS-> schema:users.sql",
    ),
    (
        "Who sends the invoice?",
        "The worker billing calls the mailer.",
        "billing:worker.py#run -CALLS-> mail:send.py#send",
    ),
)

_NO_GOLD = "the question has no gold: only measures of cost and time can score it"
_AS_RELATIONS = (
    "every second name of paths such as `A -> b -> C` is read as a relation, since none of them is a node elsewhere "
    "(`--second-names nodes` reads them as nodes)"
)
_UNKNOWN = {
    "unknown": "the knowledge graph doesn't hold an edge of the path, so the question won't be scored",
    "reversed": "the knowledge graph holds an edge of the path the other way round, so the question won't be scored",
    "other": "the knowledge graph holds an edge of the path with another relation, so the question won't be scored",
}

#: The measures and the bounds of the gate by the kind of gold that most questions have. None is of recall without a
#: limit to what is retrieved: a walk over every edge of the graph, or a list of all files, has a recall of 1.
_GATES = {
    "paths": "--fail-under EdgeF1=0.7",
    "relevant": "--fail-under Recall@10=0.8",
    "expected_files": "--fail-under FileRecall=0.8 --fail-under FilePrecision=0.5",
    "gold_answer": "--max-failed 0",
}

#: What the gate of a kind of gold counts, since a bound on recall alone is passed by retrieving everything.
_PURPOSES = {
    "paths": "the gate: a walk over every edge doesn't pass it",
    "expected_files": "the gate: a list of all files doesn't pass it",
}


@dataclass(frozen=True, slots=True)
class NewDataset:
    """A dataset that was made.

    Attributes
    ----------
    gold
        How many questions have each kind of gold.
    repositories, relations
        Those of the gold and of the knowledge graph.
    graph
        The knowledge graph, if one was given.
    doubts
        What may be wrong with the repositories, in sentences.
    steps
        The number of gold steps by how the knowledge graph holds them.
    named
        The number of names in the gold by how their ids in the knowledge graph were found.
    """

    folder: Path
    questions: int
    gold: dict[str, int]
    repositories: Counter[str]
    doubts: list[str]
    relations: list[str]
    graph: ImportedGraph | None
    steps: Counter[str]
    named: dict[str, int]
    examples: bool

    def lines(self) -> list[str]:
        """Return what was made, in words."""
        names = {"paths": "gold paths", "relevant": "relevant ids", "expected_files": "files", "gold_answer": "answers"}
        gold = ", ".join(f"{count} with {names[kind]}" for kind, count in self.gold.items() if count)
        what = "example question" if self.examples else "question"
        lines = [f"{self.folder}: {counted(self.questions, what)} ({gold or 'without gold'})"]
        if self.graph is not None:
            held = f"; it holds {self.steps['forward']} of {counted(self.steps.total(), 'gold step')}" * bool(
                self.steps
            )
            artifacts, edges = counted(self.graph.artifacts, "artifact"), counted(self.graph.edges, "edge")
            lines.append(f"knowledge graph: {artifacts}, {edges}{held}")
        if ways := [f"{count} {how}" for how, count in self.named.items() if how != "as they are"]:
            lines.append(f"ids found for names in the gold: {', '.join(ways)}")
        if self.repositories:
            lines.append(repository_line(self.repositories))
        if self.relations:
            more = f" and {len(self.relations) - 10} more" if len(self.relations) > 10 else ""
            lines.append(f"relations: {', '.join(self.relations[:10])}{more}")
        return [*lines, *(f"note: {doubt}" for doubt in self.doubts)]

    def commands(self) -> list[tuple[str, str]]:
        """Return the three commands to run next, each with its purpose."""
        kind = max(self.gold, key=lambda one: self.gold[one])
        return [
            (command_text("run", self.folder, options=" --system mine=my_system:answer"), "your system"),
            (command_text("evaluate", self.folder, options=f" {_GATES[kind]}"), _PURPOSES.get(kind, "the gate")),
            (command_text("report", self.folder), "the page"),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "dataset": str(self.folder),
            "questions": self.questions,
            "examples": self.examples,
            "gold": self.gold,
            "repositories": dict(sorted(self.repositories.items())),
            "doubts": self.doubts,
            "relations": self.relations,
            "graph": {"artifacts": self.graph.artifacts, "edges": self.graph.edges} if self.graph is not None else None,
            "steps": dict(self.steps),
            "names": self.named,
            "next": [command for command, _ in self.commands()],
        }


def create_dataset(
    folder: str | Path,
    questions: str | Path | None = None,
    graph: str | Sequence[str] = (),
    *,
    second_names: SecondNames | None = None,
    problems: Problems | None = None,
    **options: Any,
) -> NewDataset:
    """Make a dataset folder from questions and a knowledge graph. On an error, write nothing.

    Parameters
    ----------
    questions
        CSV, YAML, JSON or JSON Lines, whose columns are recognised by their names; a path may be a text such as
        ``A -CALLS-> B``. Without a file, the dataset gets two example questions.
    graph
        Files as :func:`graphkit.import_graph` reads them, or the address of a database that speaks Bolt. Names in the
        gold then become ids of the graph, and steps without a relation get the only one that the graph holds.
    second_names
        What ``b`` is in paths such as ``A -> b -> C``; by default the file or the graph decides it, or it is refused.
    problems
        Collects unusable rows, unused columns and doubts.
    options
        Further attributes of :class:`graphkit.imports.graph_importer.GraphImportOptions`, such as ``username``.

    Raises
    ------
    InputError
        The folder already has a file that would be written, or a row or the graph can't be used.
    DatabaseError
        The database can't be reached or refuses.
    """
    target, found = Path(folder), Problems() if problems is None else problems
    repositories = RepositorySource.of(options.get("repo_from"))
    _refuse_place(target, repositories)
    if not graph and (repositories.attribute or repositories.table) is not None:
        remedy = "Add the graph by --graph, or give id, none or a pattern."
        raise InputError("without a graph, no node states a repository", where="--repo-from", remedy=remedy)
    sources = [graph] if isinstance(graph, str) else list(graph)
    with held_folder(_nearest_folder(target)) as held:  # beside its place, so that it gets there by a rename
        staged = held / target.resolve().name
        staged.mkdir()
        imported = _import(staged, sources, options) if sources else None
        names = _GraphNames(staged if sources else None, *id_sources(options.get("ids"), options.get("id_pattern")))
        rows = _rows(Path(questions), found, names, second_names) if questions is not None else _examples(staged)
        asked = [names.named(question, where, found) for where, question in rows]
        found.raise_if_refused(usable=len(asked))
        if not asked:
            raise InputError("the file holds no question", where=str(questions), remedy="Add a row for each question.")
        write_records(staged / "questions.jsonl", asked)
        if repositories.setting is not None:
            set_repositories(staged, repositories.setting)
        place_folder(staged, target, [SETTINGS, *(f"{name}.jsonl" for name in FILES)])
    steps = [step for one in asked for path in one.paths for step in path.steps]
    nodes = {node for step in steps for node in (step.source, step.target)}
    relations = {step.relation for step in steps if step.relation}
    places = Dataset(target).places()
    every = {*nodes, *names.ids, *(one for question in asked for one in question.relevant)}
    counts = repository_counts(places, every)
    return NewDataset(
        target,
        len(asked),
        gold_kinds(asked),
        counts,
        repository_notes(places, every, counts),
        sorted(relations | set(imported.figures["relations"] if imported else ())),
        imported,
        names.steps,
        names.how,
        questions is None,
    )


def _nearest_folder(path: Path) -> Path:
    """Return the folder itself, or the closest one above it that exists."""
    return next(one for one in (path.resolve(), *path.resolve().parents) if one.is_dir())


def _refuse_place(folder: Path, repositories: RepositorySource) -> None:
    """Refuse a folder that no database could name, a bundled one, and one with a file that would be written."""
    for part in folder.resolve().parts:
        storable_name(part, str(folder))
    refuse_bundled(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file", where=str(folder), remedy="Name a new folder.")
    if repositories.setting is not None and (folder / SETTINGS).exists():
        remedy = f'Write {{"repositories": {json.dumps(repositories.setting)}}} there, and leave out --repo-from.'
        raise InputError(
            "the file is there already, and isn't overwritten", where=str(folder / SETTINGS), remedy=remedy
        )
    for name in FILES:
        if (there := find_file(folder, name)) is not None:
            remedy = "Name a new folder, or move that file away."
            raise InputError("the file is there already, and isn't overwritten", where=str(there), remedy=remedy)


def _import(staged: Path, sources: Sequence[str], options: dict[str, Any]) -> ImportedGraph:
    """Import a knowledge graph from files, or from the one database that is named."""
    addresses = [one for one in sources if "://" in one]
    if not addresses:
        return import_graph(staged, sources, **options)
    if len(sources) > 1:
        raise InputError("a graph comes from one database or from files", where="--graph", remedy="Name one of them.")
    return import_graph(staged, (), uri=addresses[0], **{"query": EVERYTHING, **options})


def _rows(
    path: Path, problems: Problems, names: _GraphNames, second: SecondNames | None
) -> Iterator[tuple[str, Question]]:
    """Yield the question of each usable row with its place; the others are added to the problems."""
    rows: list[tuple[str, dict[str, Any]]] = []
    for where, row in question_rows(path):
        try:
            fields, unused = fields_of(row)
        except ValueError as error:
            problems.add(Problem(where, str(error), _name(row), FORM))
            continue
        for name in unused:
            problems.ignore(where, name)
        rows.append((where, fields))
    _read_paths(rows, problems, names, second)
    taken: dict[str, str] = {}
    given = {str(fields["id"]) for _, fields in rows if "id" in fields}
    free = (name for name in (f"q{number}" for number in range(1, 2 * len(rows) + 2)) if name not in given)
    for where, fields in rows:
        fields.setdefault("id", next(free))
        question = parse_record(Question, json.dumps(fields).encode(), where, problems)
        if question is None:
            continue
        if (first := taken.setdefault(question.id, where)) != where:
            remedy = "Give each question an id of its own, or leave the ids out."
            problems.add(Problem(where, f"the id is already used by {first}", question.id, remedy))
            continue
        if not any(gold_kinds([question]).values()):
            problems.note(Problem(where, _NO_GOLD, question.id))
        yield where, question


def _read_paths(
    rows: list[tuple[str, dict[str, Any]]], problems: Problems, names: _GraphNames, second: SecondNames | None
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


def _examples(staged: Path) -> Iterator[tuple[str, Question]]:
    """Yield two example questions: about edges of the knowledge graph, if there is one."""
    found = find_file(staged, "edges")
    edges = [edge for _, edge in RecordReader(found, EdgeStruct, Problems("skip"))][:10_000] if found else []
    if not edges:
        for number, (question, answer, path) in enumerate(EXAMPLES, 1):
            paths = [{"steps": written.steps()} for written in paths_of_text(path)]
            fields = {"id": f"q{number}", "question": question, "gold_answer": answer, "paths": paths}
            yield "example", Question.model_validate(fields)
        return
    onwards = {edge.source: edge for edge in edges if edge.source != edge.target}
    chains = ([edge, onwards[edge.target]] for edge in edges if edge.target in onwards and edge.source != edge.target)
    chain = next((both for both in chains if both[1].target != both[0].source), edges[:1])
    for number, steps in enumerate((chain, edges[-1:]), 1):
        written = [{"source": one.source, "relation": one.relation, "target": one.target} for one in steps]
        text = f"How does {steps[0].source} reach {steps[-1].target}?"
        yield "example", Question.model_validate({"id": f"q{number}", "question": text, "paths": [{"steps": written}]})


@dataclass
class _GraphNames:
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

    def holds(self, name: str) -> bool:
        """Return whether a name is that of a node of the knowledge graph."""
        return self.folder is not None and self._names.of(self.ids).id_of(name) in self.ids

    def named(self, question: Question, where: str, problems: Problems) -> Question:
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
                if edge.held != "forward":
                    text = f"{question.id}: {edge.source} -{edge.relation or ''}-> {edge.target}"
                    problems.note(Problem(where, _UNKNOWN[edge.held], text))
                named = {"source": edge.source, "relation": edge.relation, "target": edge.target}
                steps.append(step.model_copy(update=named))
            paths.append(path.model_copy(update={"steps": tuple(steps)}))
        relevant = {self._names.id_of(name): gain for name, gain in question.relevant.items()}
        evidence = tuple(tuple(map(self._names.id_of, one)) for one in question.evidence_sets)
        update = {"paths": tuple(paths), "relevant": relevant, "evidence_sets": evidence}
        return question.model_copy(update=update)
