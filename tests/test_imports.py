"""The permitted imports of modules, the few that ``graphkit --help`` loads, and every public name."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import graphkit
from graphkit.cli.app import COMMANDS, GROUPS
from tests.helpers import ROOT
from tests.helpers.cli import environment

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


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a module imports anywhere, also late and for type checks."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(module: str) -> set[str]:
    """Return the modules of graphkit that a module imports."""
    found = set()
    for name in imports(MODULES[module]):
        home = name if name in MODULES else name.rpartition(".")[0]
        if home in MODULES:
            found.add(home)
    return found


def importers(package: str) -> set[str]:
    """Return the modules that import a package."""
    return {
        module
        for module, path in MODULES.items()
        if any(name == package or name.startswith(f"{package}.") for name in imports(path))
    }


def test_there_are_modules() -> None:
    """The tests below look at something."""
    assert {"graphkit", "graphkit.records.models", "graphkit.cli.app", "graphkit.database.embedded.server"} <= set(
        MODULES
    )


#: Which room may import which: each a floor, from the errors at the bottom up to the command line.
MAY_IMPORT = {
    "errors": set[str](),
    "records": {"errors"},
    "files": {"errors", "records"},
    "measures": {"errors", "records"},
    "shards": {"errors", "records", "files"},
    "database": {"errors", "records"},
    "llm": {"errors", "records", "files"},
    "adapters": {"errors", "records", "files", "measures", "llm"},
    "readers": {"errors", "records", "files"},
    "imports": {"errors", "records", "files", "shards", "database", "readers"},
    "gold": {"errors", "records", "files"},
    "systems": {"errors", "records", "files", "shards", "llm"},
    "judges": {"errors", "records", "files", "measures", "llm"},
    "execution": {"errors", "records", "files", "measures"},
    "graph": {"errors", "records", "files", "measures", "database"},
    "scoring": {
        *("errors", "records", "files", "shards", "measures", "database", "llm", "judges", "execution", "graph"),
    },
    "analysis": {"errors", "records", "files", "shards", "measures", "database", "gold", "graph", "scoring"},
    "trust": {"errors", "records", "files", "measures", "database", "llm", "judges", "graph", "scoring", "analysis"},
    "exports": {"errors", "records", "files", "measures", "database", "graph", "scoring", "analysis"},
    "report": {"errors", "records", "files", "measures", "database", "graph", "scoring", "analysis"},
    "agents": {"errors", "records", "files", "measures", "database", "graph", "scoring", "analysis"},
    "ci": {"errors", "records", "files"},
    "testing": {"errors", "records", "files", "measures", "systems", "judges", "graph", "scoring", "analysis"},
    "cli": {
        *("errors", "records", "files", "measures", "database", "llm", "adapters", "judges"),
        *(
            "shards",
            "readers",
            "imports",
            "gold",
            "systems",
            "execution",
            "graph",
            "scoring",
            "analysis",
            "trust",
            "exports",
            "report",
            "agents",
            "ci",
        ),
    },
}


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
    assert rooms == set(MAY_IMPORT) - {"errors"}


def test_each_class_has_a_name_of_its_own() -> None:
    """No two classes of the package share a name: who reads one knows which it is, struct or model."""
    names = [
        node.name
        for path in MODULES.values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_nothing_imports_the_command_line() -> None:
    """The command line composes the parts, and no part knows of it."""
    found = {module for module in importers("graphkit.cli") if not module.startswith("graphkit.cli")}
    assert found == {"graphkit.__main__"}


def test_one_door_to_each_database() -> None:
    """The driver is imported behind the connection only, the embedded engine by its server only."""
    driver = importers("neo4j")
    assert "graphkit.database.store" in driver
    assert driver <= {
        f"graphkit.database.{name}" for name in ("store", "driver", "dialects", "foreign", "messages", "values")
    }
    assert importers("arcadedb_embedded") == {"graphkit.database.embedded.server"}
    assert importers("jpype") <= {"graphkit.database.embedded.server"}


def test_one_door_to_the_models() -> None:
    """The package of the Anthropic API is imported by the client only."""
    assert importers("anthropic") == {"graphkit.llm.anthropic_model"}


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


@pytest.mark.parametrize(
    ("command", "commands"),
    [
        (("--help",), {*COMMANDS, *GROUPS.values()}),
        (("evaluate", "--help"), {"evaluate"}),
        (("--version",), set()),
    ],
)
def test_help_is_quick(command: tuple[str, ...], commands: set[str]) -> None:
    """Help and version load nothing that is slow to import, and of the commands only the one that is called."""
    modules = loaded(*command)
    assert not modules & set(HEAVY)
    allowed = {"graphkit", "graphkit.errors", "graphkit.records", "graphkit.records.words", "graphkit.cli"}
    allowed |= {"graphkit.records.option_values"}
    shared = (
        "app",
        "base",
        "options",
        "streams",
        "tables",
        "terminal",
        "briefs",
        "import_gold",
        "import_graph",
        "import_scores",
    )
    allowed |= {f"graphkit.cli.{name}" for name in (*shared, *commands)}
    assert {name for name in modules if name.startswith("graphkit")} <= allowed
    assert {f"graphkit.cli.{name}" for name in commands} <= modules


def test_each_command_has_its_file() -> None:
    """The modules of the command line are the commands, each by its name, and the helpers that they share."""
    modules = {name.removeprefix("graphkit.cli.") for name in MODULES if name.startswith("graphkit.cli.")}
    helpers = {"app", "base", "options", "streams", "progress", "tables", "scorecards", "pair_tables"}
    helpers |= {
        "asking",
        "briefs",
        "demo_tables",
        "proposed_maps",
        "proposing",
        "shell_scripts",
        "terminal",
        "trust_tables",
        "import_gold",
        "import_graph",
        "import_scores",
        "evaluate_shards",
    }
    assert modules == {*COMMANDS, *GROUPS.values()} | helpers


def test_scoring_loads_no_database(tmp_path: Path) -> None:
    """Scoring without a store loads neither the driver nor git nor networkx; the intervals of means need numpy."""
    run = ROOT / "fixtures" / "storefront" / "runs" / "storefront-bm25.jsonl"
    found = loaded("evaluate", "--no-store", "--json", str(run))
    assert "msgspec" in found
    assert not found & {"neo4j", "dulwich", "networkx", "pandas", "arcadedb_embedded", "jpype"}


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
        for path in MODULES.values()
        if path.name != "__init__.py" and path.parent != ROOT / "graphkit" / "cli"
    )
    assert [name for name, count in names.items() if count > 1] == []
