"""Makes a dataset from questions of other forms, and from a knowledge graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.assets import command_text, option_text, refuse_bundled
from graphkit.files.atomic import write_records
from graphkit.files.dataset import Dataset, storable_name
from graphkit.files.dataset_settings import FILE as SETTINGS
from graphkit.files.dataset_settings import set_repositories
from graphkit.files.jsonl import find_file
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.imports.names import id_sources
from graphkit.plugins.gold.datasets.given_questions import GivenQuestions, GraphNames, note_stale, with_relevant
from graphkit.plugins.gold.datasets.placing import place_folder
from graphkit.plugins.gold.datasets.question_fields import GOLD_KINDS, gold_kinds
from graphkit.plugins.gold.datasets.repository_notes import repository_counts, repository_line, repository_notes
from graphkit.plugins.graphs.graph_importer import ImportedGraph, import_graph
from graphkit.plugins.graphs.repository_sources import RepositorySource
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.records.models import Question
from graphkit.records.path_texts import (
    SecondNames,
    paths_of_text,
)
from graphkit.records.structs import EdgeStruct
from graphkit.records.words import counted

#: The files that are made; the questions come last, since they make a folder a dataset.
FILES = ("artifacts", "edges", "questions")

#: Reads a whole database.
EVERYTHING = "MATCH (a)-[r]->(b) RETURN a, r, b"

DERIVED = "the nodes of the required steps, since no question states any"

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

#: The measures and the bounds of the gate by the kind of gold that most questions have. None is of recall without a
#: limit to what is retrieved: a walk over every edge of the graph, or a list of all files, has a recall of 1 (symbols
#: have no other measure). What no measure decides without a judge comes last.
_GATES = {
    "paths": "--fail-under EdgeF1=0.7",
    "relevant": "--fail-under Recall@10=0.8",
    "expected_files": "--fail-under FileRecall=0.8 --fail-under FilePrecision=0.5",
    "evidence_sets": "--fail-under 'Recall(sets=True)@10=0.8'",
    "relevant_texts": "--fail-under EvidenceRecall@10=0.8",
    "facts": "--fail-under Completeness=0.8",
    "gold_answer": "--fail-under AnswerHit=0.8",
    "expected_symbols": "--fail-under SymbolRecall=0.8",
    "long_answer": "--max-failed 0",
    "none": "--max-failed 0",
}

#: What the gate of a kind of gold counts, where its measure doesn't say it.
_PURPOSES = {
    "paths": "the gate: a walk over every edge doesn't pass it",
    "expected_files": "the gate: a list of all files doesn't pass it",
    "expected_symbols": "the gate: a list of all symbols passes it",
    "long_answer": "the gate: failures alone; `graphkit grade` has long answers judged",
    "none": "the gate: failures alone, until a question has gold (answer, path, documents, files)",
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
    derived
        Whether the relevant ids are the nodes of the required steps.
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
    derived: bool

    def lines(self) -> list[str]:
        """Return what was made, in words."""
        gold = ", ".join(f"{count} with {GOLD_KINDS[kind]}" for kind, count in self.gold.items() if count)
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
        if self.derived:
            lines.append(f"relevant ids: {DERIVED}")
        if self.repositories:
            lines.append(repository_line(self.repositories))
        if self.relations:
            more = f" and {len(self.relations) - 10} more" if len(self.relations) > 10 else ""
            lines.append(f"relations: {', '.join(self.relations[:10])}{more}")
        return [*lines, *(f"note: {doubt}" for doubt in self.doubts)]

    def commands(self) -> list[tuple[str, str]]:
        """Return the three commands to run next, each with its purpose."""
        return [
            (command_text("run", self.folder, options=" --system mine=my_system:answer"), "your system"),
            gate_command(self.folder, self.gold),
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
            "derived": self.derived,
            "next": [command for command, _ in self.commands()],
        }


def create_dataset(
    folder: str | Path,
    questions: str | Path | None = None,
    graph: str | Sequence[str] = (),
    *,
    second_names: SecondNames | None = None,
    problems: Problems | None = None,
    map: Sequence[str | Path] | Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
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
    map
        Fields of the rows by hand, as :class:`graphkit.plugins.mapping.field_maps.FieldMap` takes them.
    options
        Further attributes of :class:`graphkit.plugins.graphs.graph_importer.GraphImportOptions`, such as ``username``.

    Raises
    ------
    InputError
        The folder already has a file that would be written, or a row or the graph can't be used.
    DatabaseError
        The database can't be reached or refuses.
    """
    target, found = Path(folder), Problems() if problems is None else problems
    repositories = RepositorySource.of(options.get("repo_from"))
    again = command_text("init", folder, questions, options=" --update") if questions is not None else ""
    again += option_text("second-names", second_names) if again and second_names is not None else ""
    again += "".join(option_text("map", one) for one in map if not isinstance(map, Mapping)) if again and map else ""
    _refuse_place(target, repositories, again, bool(graph))
    if not graph and (repositories.attribute or repositories.table) is not None:
        remedy = "Add the graph by --graph, or give id, none or a pattern."
        raise InputError("without a graph, no node states a repository", where="--repo-from", remedy=remedy)
    fields = FieldMap(map) if map else None
    sources = [graph] if isinstance(graph, str) else list(graph)
    with held_folder(_nearest_folder(target)) as held:  # beside its place, so that it gets there by a rename
        staged = held / target.resolve().name
        staged.mkdir()
        imported = _import(staged, sources, options) if sources else None
        names = GraphNames(staged if sources else None, *id_sources(options.get("ids"), options.get("id_pattern")))
        given = GivenQuestions(Path(questions), names, second_names, mapped=fields) if questions is not None else None
        placed = [*given.read(found)] if given is not None else [("example", one) for one in _examples(staged)]
        asked, derived = with_relevant([one for _, one in placed])
        found.raise_if_refused(usable=len(asked))
        if not asked:
            raise InputError("the file holds no question", where=str(questions), remedy="Add a row for each question.")
        write_records(staged / "questions.jsonl", asked)
        if repositories.setting is not None:
            set_repositories(staged, repositories.setting)
        if sources:
            note_stale(Dataset(staged), asked, {one.id: where for where, one in placed}, found)
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
        derived,
    )


def gate_command(folder: Path, gold: Mapping[str, int]) -> tuple[str, str]:
    """Return the command of the gate that fits most questions, and its purpose."""
    kind = max(_GATES, key=lambda one: (gold.get(one, 0) > 0 and one != "long_answer", gold.get(one, 0)))
    kind = kind if gold.get(kind) else "none"
    return command_text("evaluate", folder, options=f" {_GATES[kind]}"), _PURPOSES.get(kind, "the gate")


def _nearest_folder(path: Path) -> Path:
    """Return the folder itself, or the closest one above it that exists."""
    return next(one for one in (path.resolve(), *path.resolve().parents) if one.is_dir())


def _refuse_place(folder: Path, repositories: RepositorySource, again: str, with_graph: bool) -> None:
    """Refuse a folder that no database could name, a bundled one, and one with a file that would be written.

    The remedy for a dataset is the command ``again``, which changes its questions.
    """
    for part in folder.resolve().parts:
        storable_name(part, str(folder))
    refuse_bundled(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file", where=str(folder), remedy="Name a new folder.")
    if repositories.setting is not None and (folder / SETTINGS).exists():
        remedy = f'Write {{"repositories": "{repositories.setting}"}} there, and leave out --repo-from.'
        raise InputError(
            "the file is there already, and isn't overwritten", where=str(folder / SETTINGS), remedy=remedy
        )
    if again and (there := find_file(folder, "questions")) is not None:
        graph = ", without --graph, since the graph stays" if with_graph else ""
        remedy = f"`{again}` changes its questions{graph}; or name a new folder."
        raise InputError("the dataset is there already, and isn't overwritten", where=str(there), remedy=remedy)
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


def _examples(staged: Path) -> list[Question]:
    """Return two example questions: about edges of the knowledge graph, if there is one."""
    found = find_file(staged, "edges")
    edges = [edge for _, edge in RecordReader(found, EdgeStruct, Problems("skip"))][:10_000] if found else []
    if not edges:
        texts = [(question, answer, paths_of_text(path)) for question, answer, path in EXAMPLES]
        fields: list[dict[str, Any]] = [
            {"question": question, "gold_answer": answer, "paths": [{"steps": path.steps()} for path in paths]}
            for question, answer, paths in texts
        ]
    else:
        onwards = {edge.source: edge for edge in edges if edge.source != edge.target}
        twos = ([edge, onwards[edge.target]] for edge in edges if edge.target in onwards and edge.source != edge.target)
        chain = next((both for both in twos if both[1].target != both[0].source), edges[:1])
        fields = [
            {
                "question": f"How does {steps[0].source} reach {steps[-1].target}?",
                "paths": [[(one.source, one.relation, one.target) for one in steps]],
            }
            for steps in (chain, edges[-1:])
        ]
    return [Question.model_validate({"id": f"q{number}", **one}) for number, one in enumerate(fields, 1)]
