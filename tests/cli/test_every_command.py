"""Properties of all commands: help and its page, JSON, the running database, pipes, Ctrl-C, hostile text."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import graphkit as package
from graphkit.cli.app import app
from graphkit.graph.queries import named_queries
from graphkit.measures.registry import MEASURES, measure_kinds
from graphkit.plugins.judging.commands.grade import JUDGE
from graphkit.plugins.judging.grading.grade_run import GradingOptions
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
from graphkit.plugins.judging.trust import pooled_chunks, spot_check
from graphkit.plugins.judging.trust.consistency import REPEAT
from graphkit.plugins.systems import session
from graphkit.plugins.systems.runner import Limits
from graphkit.plugins.training.baseline import DEFAULT_MODEL, baseline
from graphkit.readers.known_formats import formats
from graphkit.records.schemas import RECORDS
from graphkit.scoring import intervals
from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, COMMAND, QUESTIONS, Graph, Process, Row, environment, inside, tiny, write_lines
from tests.helpers.invocations import SERVING, commands
from tests.helpers.suites import one_fast

PAGE = (ROOT / "docs" / "commands.md").read_text()


COMMANDS = commands()
SHARED = {
    "--json",
    "--no-input-limits",
    "--data",
    "--neo4j-uri",
    "--neo4j-username",
    "--neo4j-password",
    "--neo4j-database",
    "--help",
}


def section(words: tuple[str, ...]) -> str:
    """Return the part of the page that is about a command; the formats of logs share one."""
    if words[0] == "import" and words[1] in ("auto", *formats()):
        words = ("import", "FORMAT")
    found = re.search(rf"^### graphkit {' '.join(words)}(?: [^\n]*)?\n.*?(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/commands.md has no section for `graphkit {' '.join(words)}`"
    return found.group(0)


# Help and documentation --------------------------------------------------------------------------------------------


def test_known_commands() -> None:
    """The commands that users were promised exist."""
    promised = {"demo", "load", "git", "evaluate", "failures", "query", "queries", "measures", "schema"}
    assert {(name,) for name in promised} <= set(COMMANDS)
    assert {("db", name) for name in ("start", "stop", "status", "path")} <= set(COMMANDS)


def test_defaults_are_those_of_the_library() -> None:
    """The default of each option is that of the library's function."""
    limits = Limits()
    expected: dict[tuple[str, ...], Row] = {
        ("compare",): {"resamples": intervals.RESAMPLES, "seed": intervals.SEED},
        ("grade",): {
            "judge": None,  # that of the model's provider, else the library's
            "concurrency": JudgeOptions().concurrency,
            "context_tokens": GradingOptions().context_tokens,
        },
        ("judge", "spot-check"): {"n": spot_check.SIZE, "width": spot_check.WIDTH, "seed": intervals.SEED},
        ("judge", "consistency"): {"repeat": REPEAT},
        ("judge", "pool"): {"k": pooled_chunks.DEPTH},
        ("judge", "pairwise"): {"seed": intervals.SEED},
        ("run",): {
            "seed": session.DEFAULT_SEED,
            "k": session.DEFAULT_K,
            "concurrency": limits.concurrency,
            "timeout": limits.timeout,
            "retries": limits.retries,
            "model": DEFAULT_MODEL,
            "max_tokens": inspect.signature(baseline).parameters["max_tokens"].default,
        },
    }
    assert JudgeOptions().judge == JUDGE
    for command, defaults in expected.items():
        shown = {parameter.name: parameter.default for parameter in COMMANDS[command].params}
        assert {name: shown[name] for name in defaults} == defaults
    hops = next(parameter for parameter in COMMANDS["judge", "pool"].params if parameter.name == "neighbours")
    assert f"at most {pooled_chunks.MOST_NEIGHBOURS} a question" in hops.help
    graders = next(parameter for parameter in COMMANDS["grade",].params if parameter.name == "grader")
    assert f"[default: {', '.join(GradingOptions().graders)}]" in graders.help


def test_every_command_takes_json() -> None:
    """--json is an option of every command."""
    for words, command in COMMANDS.items():
        assert any("--json" in option.opts for option in command.params), words


def test_commands_that_serve() -> None:
    """The tests know each command that doesn't end by itself: its help says how one ends it, or it is an agent's."""
    ended = {words for words, command in COMMANDS.items() if "ends the command" in " ".join(command.help.split())}
    assert ended | {("mcp",)} == SERVING


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    """Each option and argument of a command stands in its section of docs/commands.md, and no option that isn't.

    The section has an example.
    """
    text = section(words)
    assert re.search(r"^    graphkit ", text, re.MULTILINE)
    names = {name for option in COMMANDS[words].params for name in option.opts if name.startswith("-")}
    for option in COMMANDS[words].params:
        if not set(option.opts) & SHARED:
            shown = option.opts if option.param_type_name == "option" else [option.metavar or option.name.upper()]
            for name in shown:
                assert name in text, f"{name} isn't documented"
    text = re.sub(r"^.* With `auto` alone\. \|$", "", text, flags=re.MULTILINE) if "--yes" not in names else text
    documented = set(re.findall(r"`(--?[a-z][\w-]*)", text))
    assert documented <= names | SHARED, documented - names


def test_shared_options_and_exit_codes_are_documented() -> None:
    """The options of all commands are at the top of the page, with the exit codes and the variables."""
    top = PAGE.partition("\n### graphkit ")[0]
    for text in (*SHARED, "NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "GRAPHKIT_HOME"):
        assert f"`{text}`" in top, text
    for variable in ("GRAPHKIT_JVM_HEAP", "GRAPHKIT_QUERY_TIMEOUT", "GRAPHKIT_DEBUG"):
        assert f"`{variable}`" in top
    for code in ("0", "1", "2", "3", "70", "130"):
        assert re.search(rf"^\| {code} \|", top, re.MULTILINE), code


def test_every_command_that_reads_the_graph_reports_half_written_ones(graph: Graph, tmp_path: Path) -> None:
    """All of them open it by one function, which reports them; `db status` shows them as a part of its result.

    `query` and `gold propose` opened the database themselves, and were silent.
    """
    sources = {path.name: path.read_text() for path in (ROOT / "graphkit" / "cli").glob("*.py")}
    opening = {name for name, text in sources.items() if re.search(r"\b(Store\.open|open_store|prepared)\(", text)}
    assert opening == {"base.py", "db.py"}
    assert "graph_content(store)" in sources["db.py"]
    graph.store.write("CREATE (:Load {name: 'dataset shop', owner: 'nobody', heartbeat: 0})")
    try:
        for words in (("query", "-e", "RETURN 1 AS one"), ("failures", "r"), ("compare", "r", "r")):
            done = inside(*words, cwd=tmp_path, env=graph.env)
            assert "note: the load of dataset shop was interrupted: run it again to repair it" in done.err, words
    finally:
        graph.store.write("MATCH (l:Load) DELETE l")


def test_examples_of_the_page_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command has one example, whose words its parser takes: no option, value or argument is missing or wrong."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    found = importlib.import_module("command_pages").examples(typer.main.get_command(app))
    assert set(found) == {words if words[1:] != ("auto",) else ("import", "FORMAT") for words in COMMANDS} - {
        ("import", name) for name in formats()
    }
    assert [words for words, some in found.items() if len(some) != 1] == []
    for words, [example] in found.items():
        given = shlex.split(example.line.partition(" > ")[0])[1 + len(words) :]
        command = COMMANDS["import", "auto"] if words == ("import", "FORMAT") else COMMANDS[words]
        command.make_context(" ".join(words), given)


def test_commands_of_all_pages_exist() -> None:
    """Each line of a page that calls graphkit names a command and options that there are."""
    found = 0
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for line in re.findall(r"^ {4,}graphkit (.+?)(?: +[#|>].*)?$", page.read_text("utf-8"), re.MULTILINE):
            words = re.sub(r"""'[^']*'|"[^"]*\"""", "TEXT", line).split()
            name = tuple(words[:2]) if (words[0],) not in COMMANDS else (words[0],)
            name = ("import", "auto") if name == ("import", "pipeline") else name  # the reader of docs/own-reader.md
            assert name in COMMANDS or words[0].startswith("-"), (page.name, line)
            known = {text for option in COMMANDS[name].params for text in option.opts} if name in COMMANDS else {*words}
            assert {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= known, (page.name, line)
            found += 1
    assert found > 200


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("db",),
        ("judge",),
        ("cache",),
        ("ragas",),
        ("sandbox",),
        ("gold",),
        ("evaluate",),
        ("db", "status"),
        ("judge", "bias"),
    ],
    ids=" ".join,
)
def test_help(words: tuple[str, ...], tmp_path: Path) -> None:
    """--help and -h tell the usage, end with 0, and leave nothing behind."""
    done = inside(*words, "--help", cwd=tmp_path, code=0)
    assert "Usage:" in done.out
    assert done.err == ""
    assert inside(*words, "-h", cwd=tmp_path, code=0).out == done.out
    assert list(tmp_path.iterdir()) == []


def test_help_of_every_command() -> None:
    """Every command and option has a text that explains it."""
    for words, command in COMMANDS.items():
        assert command.help, words
        for option in command.params:
            assert option.help, (words, option.name)


#: Commands that read records, of a dataset with a run, scores and verdicts in which one field each isn't known.
READING = (
    ("load", "d"),
    ("evaluate", "d/runs/r.jsonl"),
    ("evaluate", "d/runs/r.jsonl", "--no-store"),
    ("grade", "d/runs/r.jsonl", "--no-store"),
    ("execute", "d/runs/r.jsonl", "--no-store", "--unsafe-no-sandbox"),
    ("report", "d/runs/r.jsonl", "-o", "r.html"),
    ("view", "d/runs/r.jsonl"),
    ("compare", "d/runs/r.jsonl", "d/runs/s.jsonl"),
    ("compare", "r", "s", "--scores", "scores.jsonl"),
    ("failures", "d/runs/r.jsonl"),
    ("why", "d/runs/r.jsonl", "strict-q1"),
    ("summarize", "scores.jsonl"),
    ("load-scores", "scores.jsonl"),
    ("run", "d", "--system", "r=systems:answer"),
    ("cypher", "d", "-o", "walked"),
    ("import", "ragas", "log.json", "-d", "d", "-o", "log.jsonl"),
    ("judge", "spot-check", "d/runs/r.jsonl", "--scores", "scores.jsonl"),
    ("judge", "pool", "d/runs/r.jsonl"),
    ("judge", "pairwise", "d/runs/r.jsonl", "d/runs/s.jsonl"),
    ("judge", "calibrate", "d/runs/r.jsonl", "--scores", "scores.jsonl", "--examples", "new.csv"),
    ("judge", "consistency", "d/runs/r.jsonl", "--scores", "scores.jsonl"),
    ("judge", "bias", "d/runs/r.jsonl", "--scores", "scores.jsonl"),
    ("judge", "drift", "d/runs/r.jsonl", "--scores", "scores.jsonl"),
    ("export", "d/runs/r.jsonl", "--to", "otel", "-o", "events.jsonl"),
    ("ragas", "export", "d/runs/r.jsonl", "-o", "r.jsonl"),
    ("ragas", "scores", "scores.jsonl", "--run", "d/runs/r.jsonl"),
)


def files(folder: Path) -> dict[Path, bytes]:
    """Return the files below a folder with what they hold."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_strict_refuses_fields_that_are_not_known(command: tuple[str, ...], graph: Graph, tmp_path: Path) -> None:
    """With --strict each command that reads records refuses the field, says which, and writes nothing."""
    questions = [{**one, "id": f"strict-{one['id']}", "dificulty": "easy"} for one in QUESTIONS]
    answers = [{**one, "question_id": f"strict-{one['question_id']}", "latencyms": 3} for one in ANSWERS]
    tiny(tmp_path / "d", questions, answers)
    write_lines(tmp_path / "d" / "runs" / "s.jsonl", [{**one, "run": "s"} for one in answers])
    score = {"question": "strict-q1", "measure": "m", "value": 1, "grader": "j", "explication": "it is"}
    write_lines(tmp_path / "scores.jsonl", [{**score, "run": run} for run in ("r", "s")])
    log = {"question_id": "strict-q1", "response": "z", "retrieved_context_ids": ["a:m.py#x"], "explication": "it is"}
    write_lines(tmp_path / "log.json", [json.dumps([log])])
    (tmp_path / "systems.py").write_text("def answer(question):\n    return 'an answer'\n")
    before = files(tmp_path)
    held = graph.counts()
    done = inside(*command, "--strict", cwd=tmp_path, env=graph.env, code=2)
    fields = ("'dificulty'", "'latencyms'", "'explication'", "explication (1)")
    assert any(field in done.err for field in fields), done.err
    assert "strict reading refuses" in done.err
    assert files(tmp_path) == before
    assert graph.counts() == held


def test_strict_is_of_every_command_that_reads_records() -> None:
    """No command takes --strict that isn't among those above, but check, whose warnings such fields are."""
    taking = {words for words, command in COMMANDS.items() if any("--strict" in one.opts for one in command.params)}
    tried = {next(words for words in COMMANDS if command[: len(words)] == words) for command in READING}
    formats = {words for words in taking if words[0] == "import"}
    assert taking - formats == tried - formats | {("check",), ("ragas", "evaluate")}


@pytest.mark.parametrize("arguments", [("evalute",), ("db", "stat"), ("--colour",)])
def test_unknown_command(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """An unknown command or option ends with 2 and points to the help."""
    done = inside(*arguments, cwd=tmp_path, code=2)
    assert arguments[-1] in done.err
    assert "-h" in done.err


def test_version(tmp_path: Path) -> None:
    """--version is one line."""
    assert inside("--version", cwd=tmp_path, code=0).out == f"graphkit {package.__version__}\n"


# Lists -------------------------------------------------------------------------------------------------------------


def test_measures_json(tmp_path: Path) -> None:
    """Each measure is an object with its definition and source."""
    rows = inside("measures", "--json", cwd=tmp_path, code=0).objects()
    kinds, wrong = measure_kinds()
    assert (wrong, kinds[: len(MEASURES)]) == ([], [*MEASURES])
    for row, kind in zip(rows, kinds, strict=True):
        assert re.match(rf"{kind.__name__}\b", row["measure"])
        assert row["definition"]
        assert row["source"]
        assert row["engines"] == ", ".join(kind.engines())
    assert [row["engines"] for row in rows if row["measure"] == "Groundedness"] == ["judge"]


def test_queries_json(tmp_path: Path) -> None:
    """Each named query is an object with its parameters and columns."""
    rows = inside("queries", "--json", cwd=tmp_path, code=0).objects()
    assert [row["name"] for row in rows] == list(named_queries())
    assert all(row["columns"] and row["answers"] and "run" in row["parameters"] for row in rows)


def test_schema_json(tmp_path: Path) -> None:
    """The schema of all records is one object by their names; that of one record is its JSON Schema."""
    schemas = inside("schema", "--json", cwd=tmp_path, code=0).object()
    assert list(schemas) == list(RECORDS)
    one = inside("schema", "question", "--json", cwd=tmp_path, code=0).object()
    assert one == schemas["question"]
    assert one["type"] == "object"
    assert {"id", "question"} <= set(one["properties"])
    text = inside("schema", "question", cwd=tmp_path, code=0).out
    assert json.loads(text) == one
    done = inside("schema", "questions", cwd=tmp_path, code=2)
    assert "'questions'" in done.err
    assert "question, answer" in done.err


# The database ------------------------------------------------------------------------------------------------------


def test_cycle_of_the_embedded_database(tmp_path: Path) -> None:
    """start keeps one server that the next commands find, status tells of it, stop ends it, and the data stay."""

    def db(word: str) -> Row:
        return inside("db", word, "--json", cwd=tmp_path, code=0).object()

    folder = str(tmp_path / ".graphkit")
    assert db("path") == {"path": folder}
    assert db("status")["running"] is False
    assert list(tmp_path.iterdir()) == []
    started = db("start")
    try:
        assert started["path"] == folder
        assert db("start") == started
        pid = db("status")["pid"]
        inside("load", tiny(tmp_path / "data").parent.parent, cwd=tmp_path, code=0)
        status = db("status")
        assert (status["pid"], status["uri"], status["running"], status["keep"]) == (pid, started["uri"], True, True)
        assert (status["datasets"], status["runs"], status["unfinished"]) == ({"data": 2}, [], [])
        said = inside("db", "status", cwd=tmp_path, code=0).out
        assert "data (2)" in said
        assert not re.search(r":\s*$", said, re.MULTILINE)  # what there is nothing of has no line
    finally:
        assert db("stop") == {"stopped": True}
    assert db("stop") == {"stopped": False}
    assert db("status")["running"] is False
    found = inside("query", "-e", "MATCH (q:Question) RETURN count(q) AS n", "--json", cwd=tmp_path, code=0)
    assert found.object() == {"n": 2}


def test_a_server_of_ones_own_is_left_alone(tmp_path: Path) -> None:
    """If a Neo4j server is named, db start and stop say that it isn't theirs."""
    for word in ("start", "stop"):
        done = inside("db", word, cwd=tmp_path, env={"NEO4J_URI": "bolt://127.0.0.1:1"}, code=2)
        assert "Unset NEO4J_URI" in done.err


def test_option_before_variable(graph: Graph, tmp_path: Path) -> None:
    """--data wins over GRAPHKIT_HOME, and --neo4j-uri over NEO4J_URI."""
    env = {"GRAPHKIT_HOME": str(tmp_path / "other")}
    done = inside("db", "path", "--data", "mine", "--json", cwd=tmp_path, env=env, code=0)
    assert done.object() == {"path": str(tmp_path / "mine")}
    assert inside("db", "path", "--json", cwd=tmp_path, env=env).object() == {"path": str(tmp_path / "other")}
    env = {"NEO4J_URI": "bolt://127.0.0.1:1"}
    done = inside("query", "-e", "RETURN 1", "--neo4j-uri", "bolt://127.0.0.1:2", cwd=tmp_path, env=env, code=3)
    assert "127.0.0.1:2" in done.err


# Streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_broken_pipe_is_silent(options: tuple[str, ...], tmp_path: Path) -> None:
    """A reader that has seen enough is no error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(
            [*COMMAND, "schema", *options], stdout=pipe, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C ends with 130, without a traceback, and without the exit code of a failed gate."""
    tiny(tmp_path)
    pipe = tmp_path / "runs" / "waits.jsonl"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "evaluate", "--no-store", pipe],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"PYTHONWARNINGS": ""}),  # the pipe is left open
        start_new_session=True,
    )
    with pipe.open("wb"):  # opens once the command reads
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.strip() == b""
    assert b"Traceback" not in err


def test_interrupts_that_are_ignored_stay_ignored(tmp_path: Path) -> None:
    """A command that a script starts in the background, with interrupts ignored, isn't ended by one."""
    tiny(tmp_path)
    pipe = tmp_path / "runs" / "waits.jsonl"
    os.mkfifo(pipe)
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from graphkit.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", ignoring, "evaluate", "--no-store", pipe, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    with pipe.open("wb") as stream:  # opens once the command reads
        os.killpg(process.pid, signal.SIGINT)
        stream.write((tmp_path / "runs" / "r.jsonl").read_bytes())
    out, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["run"]) == (0, "r"), err


@one_fast("encoding", ["latin-1", "ascii"], "a process for each encoding", 0)
def test_terminal_without_unicode(encoding: str, process: Process, tmp_path: Path) -> None:
    """Characters that the terminal lacks are escaped, and JSON stays the same JSON."""
    run = tiny(tmp_path, answers=[{**answer, "run": "größe ∑"} for answer in ANSWERS])
    env = {"PYTHONIOENCODING": encoding}
    assert "0.7500" in process("evaluate", "--full", "--no-store", run, cwd=tmp_path, env=env, code=0).out
    done = subprocess.run(
        [*COMMAND, "evaluate", "--no-store", "--json", "-m", "RR", run],
        capture_output=True,
        env=environment(env),
        check=True,
    )
    assert json.loads(done.stdout.decode(encoding))["run"] == "größe ∑"


# Hostile text ------------------------------------------------------------------------------------------------------

HOSTILE = "\x1b[2J\x1b]0;title\x07[red]x[/red] \x9b31m\u202eevil\r:smile:"
#: Everything that could drive a terminal: C0 but the newline, DEL, C1, and marks that turn the writing round.
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_hostile_text_is_shown_harmless(graph: Graph, tmp_path: Path) -> None:
    """Escapes, markup and control characters in ids, names, texts and errors reach no terminal."""
    questions = [{**one, "id": one["id"] + HOSTILE, "category": HOSTILE} for one in QUESTIONS]
    answers = [{**one, "run": HOSTILE, "question_id": one["question_id"] + HOSTILE} for one in ANSWERS]
    answers[1] = {"run": HOSTILE, "question_id": answers[1]["question_id"], "error": HOSTILE, HOSTILE: 1}
    run = tiny(tmp_path, questions, answers)
    commands: tuple[tuple[object, ...], ...] = (
        ("evaluate", run),
        ("evaluate", "--fail-under", "EdgeRecall=1", run),
        ("failures", HOSTILE),
        ("failures", HOSTILE[:-1]),
        ("db", "status"),
        ("query", "-e", "MATCH (q:Question) RETURN q, q.id, q.category, {a: [q.id]} AS nested"),
    )
    shown = ""
    for command in commands:
        done = inside(*command, cwd=tmp_path, env=graph.env)
        assert not CONTROLS.search(done.out + done.err), command
        shown += done.out
    # Markup is text like any other.
    assert "[red]x[/red]" in shown
    assert ":smile:" in shown


def test_hostile_text_in_a_mistake(tmp_path: Path) -> None:
    """A record that can't be used can't forge lines of the report either."""
    forged = f"q9\nerror: all is well{HOSTILE}"
    run = tiny(tmp_path, answers=[*ANSWERS, {**ANSWERS[0], "question_id": forged}, {"run": "r", "id": 1, forged: 1}])
    for option in ("fail", "skip"):
        done = inside("evaluate", "--no-store", "--on-error", option, run, cwd=tmp_path)
        assert not CONTROLS.search(done.out + done.err)
        assert not any(line.startswith("error: all is well") for line in done.err.splitlines())


def test_hostile_text_in_json(graph: Graph, tmp_path: Path) -> None:
    """JSON keeps the text as it is, escaped, one object a line."""
    graph.store.write("MERGE (n:Question {id: 'hostile'}) SET n.question = $text", {"text": HOSTILE + "\n\u2028"})
    text = "MATCH (n:Question {id: 'hostile'}) RETURN n.question AS text"
    done = inside("query", "-e", text, "--json", cwd=tmp_path, env=graph.env, code=0)
    assert json.loads(done.out)["text"] == HOSTILE + "\n\u2028"
    assert "\x1b" not in done.out
    assert done.out.count("\n") == 1
