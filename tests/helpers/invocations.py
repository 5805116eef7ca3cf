"""Every command with the files that it takes: what names each parameter, what it is read from, and what it writes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

import typer

from graphkit.cli.app import app
from graphkit.plugins.gold.formats import gold_format
from graphkit.readers.known_formats import formats
from tests.helpers.cli import ANSWERS, QUESTIONS, Row, tiny, write_lines

Words = tuple[str, ...]

RUN, DATASET = "data/runs/r.jsonl", "data"

SCORE = {"run": "r", "question": "q1", "measure": "RubricGrade", "value": 1.0, "grade": "fully_correct", "grader": "j"}
PERSON = {"run": "r", "question": "q1", "measure": "PersonGrade", "value": 1.0, "grader": "person"}
VERDICT = {"run": "r", "question": "q1", "judge": "j", "grader": "rubric", "prompt_hash": "0", "grade": "wrong"}
COMPARISON = {
    **{"question": "q1", "criterion": "directness", "first": "r", "second": "s", "winner": "first"},
    **{"grader": "lexical", "version": "1", "shown_hash": "0", "first_length": 1, "second_length": 1},
}
EXECUTION = {"run": "r", "question": "q1", "status": "success", "language": "python", "answer_hash": "0", "tests": []}
SAMPLE = {"run": "r", "question_id": "q1", "user_input": "Who calls z?", "response": "x", "faithfulness": 0.5}
SPAN = {
    "name": "chat",
    "context": {"trace_id": "0x" + "1" * 32, "span_id": "0x" + "2" * 16},
    "start_time": "2026-01-01T00:00:00Z",
    "end_time": "2026-01-01T00:00:01Z",
    "attributes": {"openinference.span.kind": "CHAIN", "input.value": "Who calls z?", "output.value": "x"},
}
PROMPTFOO = {"results": {"results": [{"vars": {"question_id": "q1"}, "score": 1, "namedScores": {"Tone": 1}}]}}
GRAPHML = (
    '<?xml version="1.0"?>\n<graphml><key id="d0" for="edge" attr.name="relation"/><graph edgedefault="directed">\n'
    '<node id="a:m.py#x"/><node id="a:m.py#y"/>\n'
    '<edge source="a:m.py#x" target="a:m.py#y"><data key="d0">CALLS</data></edge>\n</graph></graphml>\n'
)
#: A query whose middle has no name, so that its gold needs a graph.
UNNAMED_MIDDLE = "SELECT ?x WHERE { ns:m.1 ns:a.b ?c . ?c ns:c.d ?x . }"
RESULT = {
    **{"run": "r", "dataset": "data", "gold_hash": "0", "questions": 1, "failed": 0, "missing": 0},
    **{"failed_as": "worst", "measures": {"RR": {"mean": 1.0, "scored": 1, "total": 1}}},
}
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


@dataclass(frozen=True)
class Command:
    """A call of a command: the file or folder of each parameter that has one, and its other needs.

    ``writes`` are the parameters whose file is written, ``folders`` those whose folder is; all others are read.
    ``needs`` are those that the command can't do without, beside its required ones.
    """

    paths: dict[str, str]
    more: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    graph: bool = False
    read_in: dict[str, str] = field(default_factory=dict)


def _import(format: str) -> Command:  # noqa: A002
    paths = {"files": "log.jsonl", "--dataset": DATASET, "--out": "new/run.jsonl", "--ids": "ids.jsonl"}
    return Command({**paths, "--parquet": "index"}, writes=("--out",), needs=("--dataset", "--out"))


_JUDGED = {"run": RUN, "--dataset": DATASET, "--scores": "scores.jsonl"}

COMMANDS: dict[Words, Command] = {
    ("load",): Command(
        {"dataset": DATASET, "--runs": RUN, "--out": "data-import", "--neo4j-home": "neo4j"},
        folders=("--out", "--neo4j-home"),
        graph=True,
    ),
    ("init",): Command(
        {"folder": "made", "questions": "table.csv", "--ids": "ids.jsonl"},
        more=("--graph", "graph.graphml"),
        folders=("folder",),
        needs=("questions",),
    ),
    ("git",): Command({"repositories": "clone", "--out": "history.jsonl"}, writes=("--out",), graph=True),
    ("evaluate",): Command(
        {
            **{"runs": RUN, "--dataset": DATASET, "--out": "results.jsonl", "--config": "config.toml"},
            **{"--scores": "scores.jsonl", "--ids": "ids.jsonl", "--parquet": "index", "--junit": "junit.xml"},
        },
        more=("--no-store", "-m", "EdgeRecall"),
        writes=("--out", "--junit"),
        needs=("runs",),
    ),
    ("grade",): Command(
        {
            **{"run": RUN, "--dataset": DATASET, "--rubric": "tone", "--cache": "new.sqlite"},
            **{"--prices": "prices.toml", "--examples": "examples.csv"},
        },
        more=("--no-store", "--judge", "anthropic", "--model", "m", "--dry-run"),
        writes=("--cache",),
    ),
    ("cypher",): Command(
        {"dataset": DATASET, "runs": RUN, "--out": "walked"},
        folders=("--out",),
    ),
    ("gold", "from-cypher"): Command(
        {"file": "queries.jsonl", "--dataset": DATASET, "--out": "gold-walked"},
        needs=("--dataset",),
        folders=("--out",),
    ),
    ("execute",): Command({"runs": RUN, "--dataset": DATASET}, more=("--no-store", "--unsafe-no-sandbox")),
    ("load-scores",): Command({"files": "scores.jsonl"}, graph=True),
    ("run",): Command(
        {"dataset": DATASET, "--out": "outs", "--prompt": "prompt.txt"},
        more=("--system", "plain=builtins:repr"),
        folders=("--out",),
    ),
    ("listen",): Command(
        {"--dataset": DATASET, "--out": "heard.jsonl", "--spans": "heard.spans", "--ids": "ids.jsonl"},
        more=("--port", "0"),
        writes=("--out", "--spans"),
    ),
    ("serve-graph",): Command({"dataset": DATASET}, more=("--port", "0")),
    ("check",): Command({"dataset": DATASET, "--baseline": RUN}),
    ("compare",): Command(
        {
            **{"first": "r", "second": "s", "--scores": "scores.jsonl", "--dataset": DATASET},
            **{"--baseline-dataset": DATASET, "--config": "config.toml", "--junit": "junit.xml"},
            "--out": "means.tex",
        },
        writes=("--junit", "--out"),
        needs=("--scores",),
    ),
    ("export",): Command(
        {"run": RUN, "--dataset": DATASET, "--scores": "scores.jsonl", "--out": "events.jsonl"},
        more=("--to", "otel"),
        writes=("--out",),
        needs=("--out",),
    ),
    ("report",): Command(
        {
            **{"runs": RUN, "--out": "page.html", "--dataset": DATASET, "--config": "config.toml"},
            **{"--history": "results.json"},
            **{"--scores": "scores.jsonl", "--verdicts": "verdicts.jsonl", "--executions": "executions.jsonl"},
            **{"--comparisons": "pairs.comparisons.jsonl"},
        },
        writes=("--out",),
        needs=("runs", "--out"),
    ),
    ("view",): Command(
        {
            **{"runs": RUN, "--dataset": DATASET, "--config": "config.toml", "--history": "results.json"},
            **{"--scores": "scores.jsonl", "--verdicts": "verdicts.jsonl", "--executions": "executions.jsonl"},
            **{"--comparisons": "pairs.comparisons.jsonl"},
        },
        more=("--port", "0"),
        needs=("runs",),
    ),
    ("failures",): Command({"run": RUN, "--dataset": DATASET}, more=("--kind", "missed-edges")),
    ("why",): Command({"run": RUN, "question": "q1", "--dataset": DATASET}, needs=("question",)),
    ("queries",): Command({"--browser-guide": "guide"}, folders=("--browser-guide",)),
    ("query",): Command({"source": "query.cypher", "--out": "new/query.html"}, writes=("--out",), graph=True),
    ("abstention",): Command({"runs": RUN, "--dataset": DATASET}, needs=("runs",)),
    ("summarize",): Command({"files": "scores.jsonl"}),
    ("history",): Command({"places": "results.json", "--config": "config.toml"}, needs=("places",)),
    **{("import", name): _import(name) for name in ("auto", *formats())},
    ("import", "gold"): Command(
        {"form": "cwq", "files": "rows.json", "--graph": "graph.graphml", "--out": "gold"},
        folders=("--out",),
        needs=("files", "--out"),
    ),
    ("import", "graph"): Command(
        {"--dataset": DATASET, "files": "graph.graphml", "--ids": "ids.jsonl"}, more=("--replace",), needs=("files",)
    ),
    ("import", "scores"): Command(
        {"files": "promptfoo.json", "--out": "imported.jsonl", "--dataset": DATASET},
        more=("--run", "r"),
        writes=("--out",),
    ),
    ("judge", "pool"): Command(
        {
            **{"runs": RUN, "--dataset": DATASET, "--cache": "new.sqlite", "--prices": "prices.toml"},
            **{"--texts": "texts.jsonl", "--out": "pooled"},
        },
        more=("--neighbours", "1"),
        writes=("--cache",),
        folders=("--out",),
    ),
    ("judge", "pairwise"): Command(
        {
            **{"runs": RUN, "--dataset": DATASET, "--cache": "new.sqlite", "--prices": "prices.toml"},
            "--criteria": "criteria.toml",
        },
        writes=("--cache",),
    ),
    ("judge", "spot-check"): Command({**_JUDGED, "--csv": "sheet.csv", "--grades": "person.jsonl"}),
    ("judge", "calibrate"): Command(
        {**_JUDGED, "--csv": "sheet.csv", "--prices": "prices.toml", "--examples": "kept.csv"}, writes=("--examples",)
    ),
    ("judge", "consistency"): Command(
        {**_JUDGED, "--graded": "scores.jsonl", "--prices": "prices.toml"}, needs=("--graded",)
    ),
    ("judge", "bias"): Command(
        {
            **_JUDGED,
            "--swapped": "scores.jsonl",
            "--padded": "scores.jsonl",
            "--against": "other.jsonl",
            "--prices": "prices.toml",
        },
        needs=("--swapped",),
    ),
    ("judge", "drift"): Command(
        {**_JUDGED, "--graded": "scores.jsonl", "--prices": "prices.toml"}, needs=("--graded",)
    ),
    ("cache", "stats"): Command({"--cache": "replies.sqlite"}),
    ("cache", "prune"): Command({"--cache": "replies.sqlite"}, more=("--all",), writes=("--cache",)),
    ("ragas", "export"): Command(
        {"run": RUN, "--out": "exported.jsonl", "--dataset": DATASET, "--texts": "texts.jsonl"}, writes=("--out",)
    ),
    ("ragas", "import"): Command({"file": "samples.jsonl", "--out": "imported"}, folders=("--out",)),
    ("ragas", "scores"): Command(
        {"file": "samples.jsonl", "--run": RUN, "--dataset": DATASET, "--out": "ragas.jsonl"}, writes=("--out",)
    ),
    ("ragas", "evaluate"): Command(
        {
            **{"run": RUN, "--dataset": DATASET, "--texts": "texts.jsonl", "--prices": "prices.toml"},
            **{"--out": "ragas.jsonl"},
        },
        more=("--metric", "ExactMatch"),
        writes=("--out",),
    ),
    ("ci",): Command(
        {"run": RUN, "--settings": "settings.toml"},
        more=("--dry-run", "--baseline", RUN, "--compare="),
        needs=("run",),
    ),
    ("baseline", "save"): Command(
        {"run": RUN, "--dataset": DATASET, "--folder": "baselines"}, folders=("--folder",), needs=("--folder",)
    ),
    ("baseline", "get"): Command(
        {"--folder": "kept", "--out": "got"}, folders=("--folder", "--out"), needs=("--folder", "--out")
    ),
    ("gold", "propose"): Command(
        {"dataset": DATASET, "--decisions": "decisions.csv"}, more=("-q", "q1", "-p", "MATCH p = (a)-[:EDGE]->(b)")
    ),
    ("gold", "sample"): Command({"dataset": DATASET, "--decisions": "drafts.csv"}, more=("--unanswerable",)),
    ("gold", "migrate"): Command({"dataset": DATASET}, more=("--repo", "a=clone", "--yes")),
}

#: The commands, and of the formats of logs own records and one more: all take the same options in one function.
DISTINCT = {
    words: about
    for words, about in COMMANDS.items()
    if words[0] != "import" or words[1] not in formats() or words[1] in ("graphkit", "openinference")
}

#: Commands that take no file, with what they need.
PLAIN: dict[Words, tuple[str, ...]] = {
    ("measures",): (),
    ("schema",): ("question",),
    ("completion",): ("bash",),
    ("db", "status"): (),
    ("db", "path"): (),
    ("db", "sizes"): (),
    ("db", "migrate"): (),
    ("db", "rename"): ("run", "gone", "found"),
    ("db", "remove"): ("run", "gone"),
    ("judge", "list"): (),
    ("judge", "show"): ("rubric",),
}
#: The files that a command gets beyond its required ones, to do what it is for.
GIVEN: dict[Words, dict[str, str]] = {
    ("query",): {"source": "query.cypher"},
    **{
        ("judge", name): {"--scores": "scores.jsonl"}
        for name in ("spot-check", "calibrate", "consistency", "bias", "drift")
    },
}

#: Commands that serve until somebody ends them: a test that starts one has to end it.
SERVING: frozenset[Words] = frozenset({("listen",), ("mcp",), ("serve-graph",), ("view",)})

#: Texts among the arguments that name no file.
NAMES = {("schema", "record"), ("import gold", "form")}
NAMES |= {("db rename", name) for name in ("kind", "old", "new")}
NAMES |= {("db remove", "kind"), ("db remove", "name"), ("judge show", "name"), ("compare", "first")}
NAMES |= {("compare", "second"), ("compare", "others"), ("why", "question"), ("completion", "shell")}


@cache
def commands() -> Mapping[Words, Any]:
    """Return every command of the application by its words; to build them all takes a second."""
    return dict(_below(typer.main.get_command(app), ()))


def _below(group: Any, path: Words) -> Iterator[tuple[Words, Any]]:
    for name in group.list_commands(None):
        sub = group.get_command(None, name)
        if hasattr(sub, "list_commands"):
            yield from _below(sub, (*path, name))
        else:
            yield (*path, name), sub


def file_parameters() -> Iterator[tuple[Words, str]]:
    """Yield (words, parameter) of all that takes a file: what is declared as a path, and each text argument."""
    for words, command in commands().items():
        for one in command.params:
            of_text = one.param_type_name == "argument" and (" ".join(words), one.name) not in NAMES
            if of_text or _names_path(one.type_descriptor.annotation):
                yield words, one.opts[0]


def _names_path(annotation: Any) -> bool:
    return annotation is Path or any(map(_names_path, get_args(annotation)))


def required(words: Words) -> set[str]:
    """Return the parameters that a command can't do without."""
    command = commands()[words]
    return {one.opts[0] for one in command.params if one.required} | {*COMMANDS[words].needs}


def arguments(words: Words, given: dict[str, str]) -> list[str]:
    """Return the arguments of a command with what it needs and some files in the place of the usual ones."""
    about = COMMANDS[words]
    needed = required(words)
    chosen = {name: given.get(name, path) for name, path in about.paths.items() if name in given or name in needed}
    if words == ("import", "gold"):
        chosen = {"form": about.paths["form"], **chosen}
    options = [text for name, path in chosen.items() if name.startswith("-") for text in (name, path)]
    return [*words, *about.more, *options, "--", *(path for name, path in chosen.items() if not name.startswith("-"))]


def usual(words: Words) -> list[str]:
    """Return the arguments with which a command does what it is for."""
    return [*words, *PLAIN[words]] if words in PLAIN else arguments(words, GIVEN.get(words, {}))


def write_world(folder: Path) -> Path:
    """Write every file that the commands take, and return the folder."""
    tiny(
        folder / DATASET,
        commits=[{"repo": "a", "sha": "1" * 40}],
        compatibility=[{"id": "stack-1", "commits": {"a": "1" * 40}}],
        artifacts=[{"id": "a:m.py#x", "repo": "a", "path": "m.py"}],
        edges=[{"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"}],
    )
    lines: dict[str, list[Row]] = {
        "scores.jsonl": [SCORE, {**SCORE, "question": "q2"}, {**SCORE, "run": "s"}],
        "other.jsonl": [{**SCORE, "grader": "k"}],
        "person.jsonl": [PERSON],
        "verdicts.jsonl": [VERDICT],
        "executions.jsonl": [EXECUTION],
        "pairs.comparisons.jsonl": [COMPARISON],
        "ids.jsonl": [{"name": "x", "id": "a:m.py#x"}],
        "texts.jsonl": [{"id": "a:m.py#x", "text": "def x(): ..."}],
        "samples.jsonl": [SAMPLE],
        "log.jsonl": [SPAN],
        "answers.jsonl": list(ANSWERS),
        "questions.jsonl": list(QUESTIONS),
        "queries.jsonl": [{"question": "What is there?", "cypher": "MATCH (n) RETURN n.id"}],
    }
    for name, records in lines.items():
        write_lines(folder / name, records)
    texts = {
        "config.toml": "[targets]\nRR = 0.5\n",
        "settings.toml": '[ci]\nmissing-baseline = "pass"\n',
        "criteria.toml": 'cites = "Does it name its sources?"\n',
        "prices.toml": 'currency = "USD"\n[models.m]\nprompt = 1.0\noutput = 2.0\n',
        "prompt.txt": "{question}",
        "query.cypher": "MATCH (n) RETURN count(n) AS n",
        "rows.json": json.dumps([{"ID": "h", "question": "x?", "answers": [], "sparql": UNNAMED_MIDDLE}]),
        "graph.graphml": GRAPHML,
        "table.csv": "question,path\nWhat does x call?,a:m.py#x -CALLS-> a:m.py#y\n",
        "examples.csv": "run,question_id,measure,grade,note,question\nr,q9,RubricGrade,wrong,example,Who?\n",
        "sheet.csv": "run,question_id,measure,grade,note,question,gold_answer,answer\nr,q1,RubricGrade,wrong,,,,\n",
        "tone/prompt.txt": "How polite is it?",
        "tone/schema.json": json.dumps(SCHEMA),
        "index/text_units.parquet": "no table",
        "decisions.csv": "question_id,path,decision\nq1,a:m.py#x -CALLS-> a:m.py#y,a\n",
        "notes.txt": "mine",
        "promptfoo.json": json.dumps(PROMPTFOO),
        "results.json": json.dumps({"runs": [RESULT]}),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with sqlite3.connect(folder / "replies.sqlite") as connection:
        connection.execute("CREATE TABLE mine (one)")
    connection.close()
    for name in ("outs", "new", "clone"):
        (folder / name).mkdir()
    subprocess.run(["git", "init", "-q", folder / "clone"], check=True)
    assert gold_format("cwq")
    return folder


#: The file that a folder is read from first.
FIRST_IN = {DATASET: "questions.jsonl", "tone": "schema.json", "index": "text_units.parquet", "clone": ".git/config"}
