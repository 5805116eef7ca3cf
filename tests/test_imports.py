"""The permitted imports of modules, the few that ``graphkit --help`` loads, and every public name."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest

import graphkit
from graphkit.cli.app import SECTIONS, module_of
from graphkit.cli.plugin_commands import plugin_commands
from graphkit.records.plugins import installed, plugin_of
from tests.helpers import FAST, ROOT
from tests.helpers.cli import Done, environment, inside
from tests.helpers.code_lines import code_lines
from tests.helpers.suites import one_fast

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "graphkit").rglob("*.py"))
}
#: What is slow to import, or shouldn't be needed to say how graphkit is used.
HEAVY = (
    "networkx",
    "pandas",
    "numpy",
    "neo4j",
    "dulwich",
    "rich",
    "arcadedb_embedded",
    "jpype",
    "msgspec",
    "anthropic",
    "ragas",
    "scipy",
)


class Parsed(NamedTuple):
    """What a module imports anywhere, also late and for type checks, by its full names; its classes and its texts.

    Docstrings are no texts.
    """

    imports: tuple[str, ...]
    classes: tuple[str, ...]
    texts: tuple[str, ...]


@cache
def parsed_module(path: Path) -> Parsed:
    """Return what the rules below ask about a module, which is parsed once for all of them."""
    return parsed_text(path.read_text(), path)


def parsed_text(code: str, where: object) -> Parsed:
    """Return what the rules below ask about the code of a module."""
    imports: list[str] = []
    classes: list[str] = []
    texts: dict[ast.AST, str] = {}
    told: list[ast.AST] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            # Without another name, `import graphkit.errors` gives the name of the package alone.
            imports += [alias.name for alias in node.names]
            imports += [alias.name.partition(".")[0] for alias in node.names if alias.asname is None]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where} imports relatively"
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
        elif isinstance(node, ast.Expr):
            told.append(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts[node] = node.value
    return Parsed(tuple(imports), tuple(classes), tuple(text for node, text in texts.items() if node not in told))


def around(found: Parsed, *, core: bool) -> set[str]:
    """Return what of the rules a module would go around: the package's front, and in the core plug-ins by their text.

    The front has names of every room and plug-in; the version is its own.
    """
    front = {name for name in found.imports if name.rpartition(".")[0] == "graphkit" and name not in MODULES}
    front |= {"graphkit"} & {*found.imports}
    texts = {text for text in found.texts if core and re.search(r"(^|\bgraphkit)\.plugins\b", text)}
    return texts | front - {"graphkit.__version__"}


def own(module: str) -> set[str]:
    """Return the modules of graphkit that a module imports."""
    found = set()
    for name in parsed_module(MODULES[module]).imports:
        home = name if name in MODULES else name.rpartition(".")[0]
        if home in MODULES:
            found.add(home)
    return found


def importers(package: str) -> set[str]:
    """Return the modules that import a package."""
    return {
        module
        for module, path in MODULES.items()
        if any(name == package or name.startswith(f"{package}.") for name in parsed_module(path).imports)
    }


def test_there_are_modules() -> None:
    """The tests below look at something."""
    assert {"graphkit", "graphkit.records.models", "graphkit.cli.app", "graphkit.plugins.embedded.server"} <= set(
        MODULES
    )


#: Which room of the core may import which: each a floor, from the errors at the bottom up to the command line.
MAY_IMPORT = {
    "errors": set[str](),
    "records": {"errors"},
    "files": {"errors", "records"},
    "measures": {"errors", "records"},
    "shards": {"errors", "records", "files"},
    "database": {"errors", "records"},
    "readers": {"errors", "records", "files"},
    "imports": {"errors", "records", "files", "shards", "database", "readers"},
    "graph": {"errors", "records", "files", "measures", "database"},
    "scoring": {"errors", "records", "files", "shards", "measures", "database", "graph"},
    "analysis": {"errors", "records", "files", "shards", "measures", "database", "graph", "scoring"},
    "report": {"errors", "records", "files", "measures", "database", "graph", "scoring", "analysis"},
    "cli": {
        *("errors", "records", "files", "measures", "database", "shards", "readers", "imports"),
        *("graph", "scoring", "analysis", "report"),
    },
}

PLUGINS = sorted(path.name for path in (ROOT / "graphkit" / "plugins").iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_what_the_table_says(room: str) -> None:
    """No module imports one of a room that the table doesn't name; the package itself names its homes as text."""
    for module in MODULES:
        if module.split(".")[1:2] == [room]:
            rooms = {name.split(".")[1] for name in own(module) if "." in name} - {room}
            assert rooms <= MAY_IMPORT[room], module


@pytest.mark.parametrize("room", [room for room in MAY_IMPORT if room != "errors"])
def test_no_circles(room: str) -> None:
    """No modules of a room import each other, not even for type checks; between rooms the floors forbid it."""
    modules = {module for module in MODULES if module.startswith(f"graphkit.{room}.")}
    assert modules
    TopologicalSorter({module: own(module) & modules - {module} for module in modules}).prepare()


def test_each_module_has_a_room() -> None:
    """Directly under the package lie the errors, and what Python itself asks for."""
    loose = {module for module in MODULES if module.count(".") == 1 and MODULES[module].name != "__init__.py"}
    assert loose == {"graphkit.errors", "graphkit.__main__"}
    rooms = {module.split(".")[1] for module in MODULES if module.count(".") > 1}
    assert rooms == {*MAY_IMPORT, "plugins"} - {"errors"}


def test_the_core_imports_no_plugin() -> None:
    """Plug-ins register what they add: the core knows no name of theirs. The package's front names their homes."""
    found = {module for module in importers("graphkit.plugins") if not module.startswith("graphkit.plugins")}
    assert found <= {"graphkit"}


def test_no_module_goes_around_the_rules() -> None:
    """Nobody imports the package's front, nor the core a plug-in by its text; where they are found, none is named."""
    for module, path in MODULES.items():
        found = around(parsed_module(path), core=not module.startswith("graphkit.plugins"))
        if module == "graphkit.records.plugins":
            found = {text for text in found if not text.endswith("graphkit.plugins.")}
        assert module == "graphkit" or not found, module


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('importlib.import_module("graphkit.plugins.training.baseline")', {"graphkit.plugins.training.baseline"}),
        ('import_module(f"graphkit.plugins.{name}")', {"graphkit.plugins."}),
        ('import_module(".plugins.judging", "graphkit")', {".plugins.judging"}),
        ("from graphkit import why", {"graphkit.why"}),
        ("def late():\n    from graphkit import __version__, evaluate", {"graphkit.evaluate"}),
        ("import graphkit\ngraphkit.evaluate", {"graphkit"}),
        ("import graphkit.errors", {"graphkit"}),
        ('"""See graphkit.plugins.judging."""\nfrom graphkit import __version__, errors', set()),
        ("import graphkit.errors as known\nfrom graphkit.errors import InputError", set()),
    ],
)
def test_ways_around_the_rules_are_seen(code: str, found: set[str]) -> None:
    """A module is seen to name a plug-in or the front in each way; its docstrings and the version are free."""
    assert around(parsed_text(code, "a test"), core=True) == found


@pytest.mark.parametrize("plugin", PLUGINS)
def test_plugins_come_through_the_doors(plugin: str) -> None:
    """A plug-in imports modules that the ``__all__`` of a core's room names, and of other plug-ins those it needs."""
    needed = needed_by(plugin)
    for module in MODULES:
        if module.split(".")[1:3] != ["plugins", plugin]:
            continue
        others = own(module) - {"graphkit", "graphkit.errors", "graphkit.plugins"}
        plugins = {name.split(".")[2] for name in others if name.startswith("graphkit.plugins.")}
        assert plugins <= needed, module
        for room in {name.split(".")[1] for name in others} - {"plugins"}:
            opened = {name.split(".")[2] for name in others if name.startswith(f"graphkit.{room}.")}
            closed = opened - {*getattr(import_module(f"graphkit.{room}"), "__all__", ())}
            assert not closed, f"{module} imports {room}.{closed}, which the room's __all__ doesn't name"


@pytest.mark.slow("every line of the package is counted")
def test_each_room_keeps_its_budget() -> None:
    """No room has more lines of code than CONTRIBUTING allows it, and every room has a budget."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [sentence] = re.findall(r"docstrings: (.*?)\. They add up to ([\d,]+)", text)
    budgets = {room: int(lines.replace(",", "")) for room, lines in re.findall(r"(\w+) ([\d,]+\d)", sentence[0])}
    assert budgets.keys() == MAY_IMPORT.keys() - {"errors"}
    assert sum(budgets.values()) == int(sentence[1].replace(",", ""))
    found: Counter[str] = Counter()
    for module, path in MODULES.items():
        found[module.split(".")[1] if "." in module else ""] += code_lines(path)
    assert {room: found[room] for room, lines in budgets.items() if found[room] > lines} == {}


def test_each_class_has_a_name_of_its_own() -> None:
    """No two classes of the package share a name: who reads one knows which it is, struct or model."""
    names = [name for path in MODULES.values() for name in parsed_module(path).classes]
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_nothing_imports_the_command_line() -> None:
    """The command line composes the parts, and no part of the core knows of it."""
    found = {module for module in importers("graphkit.cli") if module.split(".")[1] not in ("cli", "plugins")}
    assert found == {"graphkit.__main__"}


def test_one_door_to_each_database() -> None:
    """The driver is imported behind the connection only, the embedded engine by its server only."""
    driver = importers("neo4j")
    assert "graphkit.database.store" in driver
    assert driver <= {
        f"graphkit.database.{name}" for name in ("store", "driver", "dialects", "foreign", "messages", "values")
    }
    assert importers("arcadedb_embedded") == {"graphkit.plugins.embedded.server"}
    assert importers("jpype") <= {"graphkit.plugins.embedded.server"}


def test_one_door_to_the_models() -> None:
    """The package of the Anthropic API is imported by the client only."""
    assert importers("anthropic") == {"graphkit.plugins.judging.llm.anthropic_model"}


def test_scoring_from_files_knows_no_graph() -> None:
    """A run is scored from its files without a line of the graph's code."""
    for module in ("file_scoring", "batches", "scorer", "results"):
        others = own(f"graphkit.scoring.{module}")
        assert not {name for name in others if name.startswith(("graphkit.graph", "graphkit.database"))}, module


def loaded(*command: str) -> set[str]:
    """Return what a process of its own has imported once a command is done."""
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded:', *sys.modules, file=sys.stderr))\n"
        "sys.argv = ['graphkit', *sys.argv[1:]]\n"
        "from graphkit.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, text=True, env=environment(), check=True
    )
    return set(done.stderr.partition("loaded:")[2].split())


#: Each command that a plug-in adds, with the group to which it adds it.
POINTS = [(group, name, point) for group in ("", "import", "db") for name, point in plugin_commands(group).items()]

#: The modules of the core's commands, and the functions that declare those of plug-ins.
CORE = {f"graphkit.cli.{module_of(name)}" for names in SECTIONS.values() for name in names}
OPTIONS = [
    point
    for group in sorted(entry_points().groups)
    if group == "graphkit.conditions" or group.startswith("graphkit.options.")
    for point in installed(group).values()
]
ADDED = {point.module for point in [*(point for _, _, point in POINTS), *OPTIONS]}

#: Those that ``graphkit --help`` doesn't show.
WITHIN = {point.module for group, _, point in POINTS if group}


@pytest.mark.parametrize(
    ("command", "commands"),
    [
        (("--help",), {*CORE, *ADDED}),
        (
            ("evaluate", "--help"),
            {"graphkit.cli.evaluate", *(one.module for one in installed("graphkit.options.evaluate").values())},
        ),
        (("--version",), set()),
    ],
)
def test_help_is_quick(command: tuple[str, ...], commands: set[str]) -> None:
    """Help and version load nothing that is slow to import, and of the commands only the one that is called."""
    modules = loaded(*command)
    assert not modules & set(HEAVY)
    allowed = {"graphkit", "graphkit.errors", "graphkit.records", "graphkit.records.words", "graphkit.cli"}
    allowed |= {"graphkit.records.option_values", "graphkit.records.plugins", "graphkit.records.references"}
    shared = ("app", "base", "options", "plugin_commands", "streams", "tables", "terminal", "briefs")
    allowed |= {f"graphkit.cli.{name}" for name in shared} | commands
    for one in commands & ADDED:
        parts = one.split(".")
        allowed |= {".".join(parts[:length]) for length in range(2, len(parts))}
    assert {name for name in modules if name.startswith("graphkit")} <= allowed
    assert commands - WITHIN <= modules


def test_each_command_has_its_file() -> None:
    """The modules of the command line are the commands, each by its name, and the helpers that they share."""
    modules = {name for name in MODULES if name.startswith("graphkit.cli.")}
    helpers = {"app", "base", "options", "streams", "progress", "tables", "scorecards"}
    helpers |= {"asking", "briefs", "plugin_commands", "terminal"}
    assert modules == CORE | {f"graphkit.cli.{name}" for name in helpers}


def test_plugins_join_sections_of_the_core(tmp_path: Path) -> None:
    """The help lists commands of a plug-in that names a section of the core's there, behind those of the core."""
    named = {one: getattr(import_module(f"graphkit.plugins.{one}"), "SECTION", None) for one in PLUGINS}
    joining = {one: section for one, section in named.items() if section is not None}
    assert {*joining.values()} <= SECTIONS.keys()
    lines = [line[2:] for line in inside("--help", cwd=tmp_path, code=0).out.split("Commands:\n")[1].splitlines()]
    sections = [line.split()[0] for line in lines if line[:1].strip()]
    assert not {*joining} & {*sections}
    assert sections[: len(SECTIONS)] == [*SECTIONS]
    begins = {section: next(at for at, line in enumerate(lines) if line.startswith(section)) for section in SECTIONS}
    assert lines[begins["start"] + 1].split()[:2] == ["run", "Ask"]  # before demo: its plug-in states FIRST
    assert lines[begins["understand"] + 3].split()[:2] == ["history", "List"]
    assert lines[begins["more"] + 2].split()[:2] == ["completion", "Print"]
    headed = [at for at, line in enumerate(lines) if line[:1].strip()]
    single = [
        lines[at].split()[:2] for at, after in zip(headed, [*headed[1:], len(lines)], strict=True) if after == at + 1
    ]
    assert single == [["exports", "export"], ["agents", "mcp"]]  # one that bears its plug-in's name joins a section


def needed_by(plugin: str) -> set[str]:
    """Return a plug-in with those that it needs."""
    return {plugin, *getattr(import_module(f"graphkit.plugins.{plugin}"), "NEEDS", ())}


#: Takes one plug-in after the other away from a copied package, and prints what commands then did.
#: Each has a fork of its own, which imports all of graphkit anew, and what others install once for all.
WITHOUT_EACH = """
import contextlib, io, json, os, pathlib, sys
import msgspec, numpy, pydantic, rich.table, scipy.special, typer, yaml

def done(words):
    from graphkit.cli import main
    sys.argv = ["graphkit", *words]
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()

assert "graphkit" not in sys.modules
copied = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(copied))
found = {}
for plugin, commands in json.load(sys.stdin).items():
    folder = copied / "graphkit" / "plugins" / plugin
    kept = folder.rename(copied / "away")
    process = os.fork()
    if not process:
        try:
            (copied / "done.json").write_text(json.dumps([done(words) for words in commands]))
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    kept.rename(folder)
    found[plugin] = json.loads((copied / "done.json").read_text())
    (copied / "done.json").unlink()
print(json.dumps(found))
"""

SHOP = "fixtures/storefront"
RUNS = [f"{SHOP}/runs/storefront-{name}.jsonl" for name in ("bm25", "graph")]


#: The kinds of records that plug-ins read beside a run.
KINDS = {plugin_of(point): name for name, point in installed("graphkit.beside").items()}


def added_by(plugin: str) -> list[tuple[str, ...]]:
    """Return the commands that are gone without a plug-in, by their words."""
    return [(*group.split(), name) for group, name, point in POINTS if plugin in needed_by(plugin_of(point))]


#: The plug-ins that the fast suite takes away: one that the CI's gates come from, and one that many others need.
TAKEN = ("ci", "judging") if FAST else PLUGINS
#: Why it leaves the others in place.
FORKS = "without each plug-in, commands import all of graphkit anew"


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Done]]:
    """What commands of a copy of the package do without each plug-in."""
    copied = tmp_path_factory.mktemp("copied")
    for name in ("graphkit", "cypher", "fixtures"):
        shutil.copytree(ROOT / name, copied / name)  # with their compiled files, which fit their sources' times
    (copied / "note.json").write_text('{"a": 1}')
    (copied / "table.csv").write_text("run,question_id,answer\none,q1,yes\n")
    asked: dict[str, list[tuple[str, ...]]] = {
        plugin: [
            ("evaluate", "--no-store", "--json", RUNS[1], "-m", "EdgeRecall"),
            ("import", "auto", "note.json", "-d", SHOP, "-o", "run.jsonl"),
            ("--help",),
            ("completion", "bash"),
            *added_by(plugin),
        ]
        for plugin in PLUGINS
    }
    asked["ci"] += [
        ("compare", *RUNS, "--fail-on-regression", "--json"),
        ("compare", *RUNS, "--junit", "j.xml"),
        ("evaluate", RUNS[1], "--no-store", "-o", "r.xml"),
    ]
    asked["logs"] += [
        ("import", "lightrag", "note.json", "-d", SHOP, "-o", "run.jsonl"),
        ("evaluate", "note.json", "--format", "lightrag", "-d", SHOP, "--no-store"),
        ("import", "--help"),
    ]
    asked["mapping"] += [
        ("import", "graphkit", "note.json", "-d", SHOP, "-o", "run.jsonl", "--map", "answer=a"),
        ("evaluate", "table.csv", "-d", SHOP, "--no-store"),
    ]
    asked["cluster"] += [("evaluate", "s3://bucket/run.jsonl", "--no-store", "--on", "processes=1")]
    asked["cluster"] += [("evaluate", RUNS[1], "--no-store", "--on", "dask=1")]
    asked["bulk"] += [("load", SHOP, "--bulk")]
    asked["history"] += [("report", RUNS[0], "--out"), ("report", RUNS[0], "--history", "results")]
    asked["limits"] += [("run", SHOP, "--system", "x:y", "--max-calls", "1")]
    asked["limits"] += [("evaluate", RUNS[1], "--no-store", "--fail-over", "latency_p95=2s")]
    asked["guide"] += [("queries", "--browser-guide", "guide"), ("query", "-e", "RETURN 1", "--open")]
    asked["workbooks"] += [("evaluate", RUNS[1], "--no-store", "--scores", "scores.xlsx")]
    for (plugin, kind), run in zip(KINDS.items(), RUNS, strict=True):
        beside = Path(f"{Path(run).stem}.grades/x.{kind}.jsonl")
        (copied / beside).parent.mkdir()
        (copied / beside).write_text("")
        asked[plugin] += [
            ("report", run, "--out", f"{plugin}.html"),
            ("failures", run, "--json"),
            ("why", run, "sf-04"),
            ("load-scores", str(beside)),
            ("report", run, f"--{kind}", str(beside)),
        ]
    asked["judging"] += [
        ("report", RUNS[1], "--out", "judging.html", "--comparisons", "pairs.jsonl"),
        ("evaluate", RUNS[1], "--no-store", "--min-kappa", "0.5"),
        ("run", SHOP, "--condition", "training"),
    ]
    asked["training"] += [("run", SHOP, "--condition", "training")]
    asked["embedded"] += [("load", SHOP, "--bulk"), ("load", SHOP), ("load", SHOP, "--neo4j-uri", "bolt://127.0.0.1:9")]
    env = environment({"PYTHONDONTWRITEBYTECODE": ""})
    command = [sys.executable, "-P", "-c", WITHOUT_EACH, str(copied)]
    text = json.dumps({plugin: asked[plugin] for plugin in TAKEN})
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=copied, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return {plugin: [Done(*one) for one in said] for plugin, said in json.loads(done.stdout).items()}


def test_runs_are_compared_without_ci(without: dict[str, list[Done]]) -> None:
    """Without the plug-in ci two runs are compared and gates held, and its options are unknown."""
    *_, gate, unknown, written = without["ci"]
    assert (gate.code, json.loads(gate.out)["second"]) == (0, "storefront-graph"), gate.err
    assert "No such option: --junit" in unknown.err
    assert "error: writing .xml needs the plug-in ci, which isn't there" in written.err


@pytest.mark.slow(FORKS)
def test_the_graph_without_the_embedded_database(without: dict[str, list[Done]]) -> None:
    """Without the plug-in embedded, commands of the graph say what is missing, and a named server is asked."""
    *_, none, named = without["embedded"]
    assert (none.code, named.code) == (3, 3)
    assert "error: the embedded database needs the plug-in embedded, which isn't there" in none.err
    assert "127.0.0.1:9" in named.err


@pytest.mark.slow(FORKS)
def test_what_a_plugin_would_add_names_it(without: dict[str, list[Done]]) -> None:
    """A format, an executor, an option and a condition of a plug-in that isn't there say which; no help lists it."""
    *_, imported, evaluated, helped = without["logs"]
    for done in (imported, evaluated):
        assert done.code == 2
        assert "the format lightrag needs the plug-in logs, which isn't there" in done.err
    assert helped.code == 0
    assert "lightrag" not in helped.out
    needing = (("--map", "mapping", -2), ("a table", "mapping", -1), ("a URL", "cluster", -2))
    for what, plugin, place in needing:
        assert without[plugin][place].code == 2
        assert f"error: {what} needs the plug-in {plugin}, which isn't there" in without[plugin][place].err
    assert "a log of another form needs the plug-in mapping, which isn't there" in without["mapping"][1].err
    missing = [
        *(("cluster", "--on dask", -1), ("judging", "--condition training", -1), ("judging", "--min-kappa", -2)),
        ("training", "--condition training", -1),
        ("workbooks", "reading scores.xlsx", -1),
        ("limits", "a gate on a percentile", -1),
    ]
    for plugin, words, place in missing:
        done = without[plugin][place]
        assert done.code == 2
        assert f"error: {words} needs the plug-in {plugin}, which isn't there" in done.err
    for plugin, option, done in (
        ("bulk", "--bulk", without["bulk"][-1]),
        ("embedded", "--bulk", without["embedded"][-3]),
        ("guide", "--browser-guide", without["guide"][-2]),
        ("guide", "--open", without["guide"][-1]),
        ("history", "--history", without["history"][-1]),
        ("judging", "--comparisons", without["judging"][-3]),
        ("limits", "--max-calls", without["limits"][-2]),
    ):
        assert done.code == 2
        words = f"No such option: {option}; it may be an option that needs the plug-in {plugin}, which isn't there"
        assert words in " ".join(done.err.split())
    assert "plug-in" not in without["history"][-2].err  # known, and without its value


@one_fast("plugin", KINDS, FORKS, [*KINDS].index("judging"))
def test_what_lies_beside_a_run_names_its_plugin(plugin: str, without: dict[str, list[Done]]) -> None:
    """Without a plug-in, its files beside a run are named and not read, and who asks for one of them is refused."""
    kind, done = KINDS[plugin], without[plugin][4 + len(added_by(plugin)) :]
    lacks = f"a file of {kind} needs the plug-in {plugin}, which isn't there"
    for shown in done[:3]:
        assert shown.code == 0, shown.err
        assert f".grades/x.{kind}.jsonl: {lacks}" in shown.err
    for refused in done[3:5]:
        assert (refused.code, f"error: {lacks}" in refused.err) == (2, True), refused.err


@one_fast("plugin", PLUGINS, FORKS, PLUGINS.index("ci"), PLUGINS.index("judging"))
def test_the_core_works_without(plugin: str, without: dict[str, list[Done]]) -> None:
    """Without a plug-in's folder a run is scored, the help has none of its commands, and these say what is missing."""
    scored, read, helped, completed, *missing = without[plugin]
    assert (scored.code, json.loads(scored.out)["run"]) == (0, "storefront-graph"), scored.err
    assert read.code == 2, read.err
    assert (helped.code, completed.code) == (0, 2 if plugin == "completion" else 0), helped.err + completed.err
    added = added_by(plugin)
    for words, done in zip(added, missing[: len(added)], strict=True):
        assert f"'{' '.join(words)}')" not in completed.out
        if len(words) == 1:
            assert not re.search(rf"^ .* {words[0]}  ", helped.out, re.MULTILINE)
        assert done.code == 2
        assert f"error: `graphkit {' '.join(words)}` needs the plug-in {plugin}, which isn't there" in done.err


@pytest.mark.parametrize("plugin", PLUGINS)
def test_each_plugin_says_what_it_is(plugin: str) -> None:
    """A plug-in has a README of at most ten lines, tests of its own, and names its page in the documentation."""
    lines = (ROOT / "graphkit" / "plugins" / plugin / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 10
    pages = re.findall(r"docs/([\w-]+\.md)", "\n".join(lines))
    assert pages
    assert all((ROOT / "docs" / page).exists() for page in pages)
    assert [*(ROOT / "tests" / "plugins" / plugin).glob("test_*.py")]


def test_scoring_loads_no_database(tmp_path: Path) -> None:
    """Scoring without a store loads neither the driver nor git nor networkx; its intervals need numpy alone."""
    run = ROOT / "fixtures" / "storefront" / "runs" / "storefront-bm25.jsonl"
    found = loaded("evaluate", "--no-store", "--json", str(run))
    assert "msgspec" in found
    assert "numpy" in found
    assert not found & {"neo4j", "dulwich", "networkx", "pandas", "scipy.stats", "arcadedb_embedded", "jpype"}


def test_import_is_quick() -> None:
    """``import graphkit`` itself loads next to nothing; its names come when they are used."""
    program = "import graphkit, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=True
    )
    assert {name for name in done.stdout.split() if name.startswith("graphkit")} == {"graphkit"}
    assert not set(done.stdout.split()) & {*HEAVY, "pydantic", "typer"}


@pytest.mark.parametrize("name", graphkit.__all__)
def test_public_name(name: str) -> None:
    """Every public name resolves, is documented, and comes from graphkit."""
    value = getattr(graphkit, name)
    if not isinstance(value, tuple):
        assert value.__doc__
        assert value.__module__.startswith("graphkit")


def test_public_names_are_listed() -> None:
    """The list of public names is sorted as ruff sorts it, holds each once, and dir() shows it."""
    assert len(set(graphkit.__all__)) == len(graphkit.__all__)
    assert dir(graphkit) == sorted(graphkit.__all__)


def test_unknown_name() -> None:
    """A name that isn't there is an AttributeError like any other."""
    with pytest.raises(AttributeError, match="'nothing'"):
        graphkit.nothing  # noqa: B018


def test_no_two_modules_of_one_name() -> None:
    """A module is known by its last name alone; a command's is the command's, whatever else is called so."""
    names = Counter(
        path.stem
        for module, path in MODULES.items()
        if path.name != "__init__.py" and module not in ADDED and path.parent != ROOT / "graphkit" / "cli"
    )
    assert [name for name, count in names.items() if count > 1] == []
