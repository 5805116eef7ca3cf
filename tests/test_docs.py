"""The documentation: pages and pictures made from the code are up to date, and what the pages show works.

``tests/test_readme.py`` runs the README.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import shlex
import sys
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from graphkit.graph.queries import analysis_queries, named_queries
from graphkit.measures import registry
from graphkit.measures.base import Measure
from graphkit.plugins.guide.browser_guide import REPOSITORY_COLOURS, style
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.readers.known_formats import readers
from graphkit.readers.logged import Reader
from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, inside, tiny, write_lines
from tests.helpers.pages import Page
from tests.planted import DEFECTS, missing
from tests.test_imports import MAY_IMPORT, PLUGINS

#: The README and the pages of the documentation.
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


@pytest.mark.parametrize(
    "name", ["measures.md", "commands.md", "queries.md", "graph.md", "importing.md", "failure.svg"]
)
def test_generated_files_are_up_to_date(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages say what the registries and the query headers say; the picture shows what the fixture holds."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    generate = importlib.import_module("generate")
    monkeypatch.delitem(sys.modules, "generate")
    made = {
        "measures.md": generate.measures_page,
        "commands.md": generate.commands_page,
        "queries.md": generate.queries_page,
        "graph.md": generate.graph_page,
        "importing.md": generate.importing_page,
        "failure.svg": generate.failure_picture,
    }
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == made[name](), "run: python docs/generate.py"


@pytest.mark.parametrize("reader", readers()[0], ids=lambda reader: reader.name)
def test_pages_of_formats_are_up_to_date(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of a format says what its reader declares; its last section is compared beside the variations."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    format_page = importlib.import_module("format_pages").format_page
    page = ROOT / "docs" / "importing" / f"{reader.name}.md"
    assert page.read_text(encoding="utf-8") == format_page(reader), "run: python docs/generate.py"


def test_picture_tells_the_failure() -> None:
    """The picture shows the wrong turn that the query of wrong turns finds, and needs nothing from elsewhere."""
    picture = (ROOT / "docs" / "failure.svg").read_text(encoding="utf-8")
    # The fixture's README: sf-04 is about api v1.1.0, and the run read v2.1.0, where open_session calls no sweep.
    assert "it read v2.1.0 (main), the question is about v1.1.0 (1.x)" in picture
    for name in ("signIn", "login", "open_session", "sweep", "session_minutes", "EdgeRecall 0.00, 0 of 2 gold edges"):
        assert f">{name}<" in picture
    assert "http" not in picture.replace('xmlns="http://www.w3.org/2000/svg"', "")


def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what changes the output of a command that gets it: no colours, another encoding, a width, a secret."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1:replace")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("SHOP_TOKEN", "EdgeRecall")


def test_a_command_in_a_picture_gets_no_settings_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command prints in the picture's terminal what it prints there without the caller's settings."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    generate = importlib.import_module("generate")
    plain, _ = generate.in_a_terminal("measures")
    hostile(monkeypatch)
    assert generate.in_a_terminal("measures")[0] == plain
    assert "EdgeRecall" in plain
    assert "\x1b[" in plain


@pytest.mark.slow("a whole demo")
@pytest.mark.usefixtures("bubblewrap")
def test_picture_of_the_demo_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo draws the same picture whatever the caller's settings are."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    generate = importlib.import_module("generate")
    hostile(monkeypatch)
    assert (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8") == generate.demo_picture()


def test_what_the_pages_import_is_there() -> None:
    """Every name that an example in Python imports from graphkit stands in the module that it names."""
    names: list[tuple[str, str]] = []
    for page in PAGES:
        for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for node in ast.walk(ast.parse(example)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphkit."):
                    names += [(str(node.module), alias.name) for alias in node.names]
    assert len(names) > 5
    for module, name in names:
        # Read and not imported: one of the modules needs RAGAS.
        tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8"))
        defined = {
            one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        assert name in defined, f"{module} has no {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link and picture of a page names a file or folder of the repository."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)<>]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_pages_begin_with_their_use(page: Path) -> None:
    """A page begins with its title and a sentence to its reader: what they can do with it."""
    title, blank, sentence = page.read_text(encoding="utf-8").split("\n")[:3]
    assert title.startswith("# ")
    assert blank == ""
    assert re.search(r"\byou\b|^(Look|Read) ", sentence), sentence


def test_map_of_the_rooms() -> None:
    """CONTRIBUTING.md names each room with just those that it may import."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", text, re.MULTILINE)
    reported = {room: set(re.findall(r"\w+", imports)) for room, imports in rows}
    assert "all of them" in dict(rows)["cli"]
    assert reported | {"cli": MAY_IMPORT["cli"]} == MAY_IMPORT


def test_map_of_the_plugins() -> None:
    """CONTRIBUTING.md names each plug-in with those that it needs."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)`\]\([^)]+\) \| [^|]+ \|([^|]*)\|$", text, re.MULTILINE)
    reported = {plugin: tuple(re.findall(r"\w+", needs)) for plugin, needs in rows}
    assert reported == {
        one: getattr(importlib.import_module(f"graphkit.plugins.{one}"), "NEEDS", ()) for one in PLUGINS
    }


def test_files_of_the_map_exist() -> None:
    """Every file and folder of the checkout that CONTRIBUTING.md names is there, but those of rooms to come."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:graphkit|cypher|tests|docs)/[\w./]*)`", text))
    assert len(named) > 25
    absent = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert absent == set()


#: The code of the checkout, also of its tests and documentation.
CODE = [path for folder in ("graphkit", "tests", "docs") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_files_named_in_decisions_exist() -> None:
    """A decision names the files of today; the last parts of a path suffice."""
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in (*CODE, *(ROOT / "benchmarks").rglob("*.py"))]
    pages = [ROOT / "docs" / "decisions.md", *(ROOT / "docs" / "decisions").glob("*.md")]
    named = {(page.name, name) for page in pages for name in re.findall(r"`([\w./]+\.py)`", page.read_text())}
    assert len(named) > 30
    assert {one for one in named if not any(file.endswith(f"/{one[1]}") for file in files)} == {("logs.md", "setup.py")}


def test_tests_named_in_code_exist() -> None:
    """Every file and folder below tests/ that the code names is there."""
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in CODE
        for name in re.findall(r"(?<![\w./])tests/[\w/]+(?:\.\w+)*", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 25
    assert {one for one in named if not (ROOT / one[1]).exists()} == set()


def test_names_in_docstrings_lead_somewhere() -> None:
    """What a docstring links by its full name can be imported."""
    named = {
        name for path in CODE for name in re.findall(r":\w+:`~?(graphkit\.[\w.]+)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    lost = set()
    for name in named:
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            lost.add(name)
    assert lost == set()


def listed_measures() -> list[str]:
    """Return the names of the measures that ``graphkit measures`` lists, as far as they are graphkit's own."""
    own = {kind.name for kind in registry.measure_kinds()[0] if kind.__module__.startswith("graphkit.")}
    listed = [one["measure"] for one in inside("measures", "--json", cwd=ROOT, code=0).objects()]
    return [name for one in listed if (name := re.sub(r"[(@].*", "", one)) in own]


def test_each_measure_is_documented_once() -> None:
    """Each measure that ``graphkit measures`` lists, of the core or a plug-in, has one section on the page."""
    head = (ROOT / "docs" / "measures-head.txt").read_text(encoding="utf-8")
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)(?:@k)?$", text.removeprefix(head), re.MULTILINE)
    listed = listed_measures()
    assert sorted(sections) == sorted(listed)
    assert {"EdgeRecall", "RightDecision", "SpanRecall", "PSJS"} <= {*listed}


def test_table_of_measures_is_complete() -> None:
    """The first table on the page of measures names every measure that ``graphkit measures`` lists."""
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    table = re.search(r"\| I want to know \| measures \| needs \|\n(.*?)\n\n", text, re.DOTALL)
    assert table is not None
    names = {
        name.partition("@")[0] for name in re.findall(r"\b(?:[A-Z][A-Za-z0-9]+|RR|nDCG|P)(?:@k)?(?=[,; |])", table[1])
    }
    assert {*listed_measures()} <= names


def test_each_query_for_analysts_has_its_picture() -> None:
    """The pictures are drawn by the style that the guide for Neo4j Browser writes: gold, traversal and repositories."""
    for query in analysis_queries():
        picture = (ROOT / "docs" / "pictures" / f"{query.name}.svg").read_text(encoding="utf-8")
        assert f"graphkit query {query.name} -p run=" in picture
        if query.name == "question-subgraph":
            for name in ("GOLD", "TRAVERSED"):
                [colour] = re.findall(rf"relationship\.{name} \{{\n  color: (#\w+);", style())
                assert f'stroke="{colour}"' in picture
            assert sum(colour in picture for colour in REPOSITORY_COLOURS) > 2


@pytest.mark.slow("the storefront is loaded, graded and queried")
def test_browser_queries_find_something(store: Store) -> None:
    """The three queries to start with in Neo4j Browser run, and find rows in the storefront."""
    prepared(store)
    graphkit.evaluate(graphkit.storefront_folder() / "runs" / "storefront-graph.jsonl", store=store)
    text = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
    queries = re.findall(r"^    // \d\. [^\n]*\n((?:    [^\n]+\n)+)", text, re.MULTILINE)
    assert len(queries) == 3
    for query in queries:
        _, rows = store.query_readonly(query)
        assert rows, query


def test_records_of_the_page_on_data_are_read(tmp_path: Path) -> None:
    """The records of docs/data.md make a dataset that is evaluated without a note on any field."""
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    blocks = [re.split(r"\n(?=\{)", block) for block in re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)]
    files = ("questions", "runs/mine", "commits", "compatibility", "artifacts", "edges")
    assert len(blocks) == len(files) + 1
    for name, records in zip(files, blocks, strict=False):
        write_lines(tmp_path / f"{name}.jsonl", [json.loads(record) for record in records])
    (tmp_path / "dataset.json").write_text(*blocks[-1])
    run = tmp_path / "runs" / "mine.jsonl"
    asked = ("--no-store", "--full", "--measure", "EdgeRecall", "--measure", "ToolRecall")
    done = inside("evaluate", run, *asked, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "unknown field" not in done.err
    # One of two gold edges was traversed; the only expected call was made.
    assert re.search(r"EdgeRecall +0\.5000", done.out)
    assert re.search(r"ToolRecall +1\.0000", done.out)


def test_the_rubric_and_judge_of_ones_own_run(tmp_path: Path) -> None:
    """Rubric and judge of the page on judging grade a run, and its gate sees that one answer of two names a file."""
    text = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
    own = text.split("## Your own rubric and judge")[1].split("\n## ")[0]
    (tmp_path / "located").mkdir()
    for name, language in (
        ("located/prompt.txt", "text"),
        ("located/schema.json", "json"),
        ("my_judge.py", "python"),
    ):
        [block] = re.findall(rf"```{language}\n(.*?)```", own, re.DOTALL)
        (tmp_path / name).write_text(block)
    answers = [
        {"run": "a", "question_id": "q1", "answer": "See api/auth.py."},
        {"run": "a", "question_id": "q2", "answer": "It does."},
    ]
    tiny(tmp_path / "my-dataset", answers=answers).rename(tmp_path / "my-dataset" / "runs" / "a.jsonl")
    grade, evaluate = re.findall(r"^    graphkit (.*)$", own, re.MULTILINE)
    inside(*shlex.split(grade), "--no-store", cwd=tmp_path, code=0)
    # One of two answers names a file: a mean of .5 holds the page's gate of 0.5, and not one of 0.6.
    words = [*shlex.split(evaluate), "--no-store", "--full"]
    assert re.search(r"located +0\.5000 +2/2", inside(*words, cwd=tmp_path, code=0).out)
    words[words.index("located=0.5")] = "located=0.6"
    assert "located is 0.5000, under 0.6" in inside(*words, cwd=tmp_path, code=1).err


def test_commands_of_the_page_on_judging() -> None:
    """Graders, measures and kinds of failures in the tables of docs/judging.md are those that there are."""
    text = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \| [^|]+ \| ([A-Z][^|]+) \|$", text, re.MULTILINE)
    reported = {name: measures.split(", ") for names, measures in rows for name in re.findall(r"`(\w+)`", names)}
    assert reported.keys() == GRADERS.keys()
    for name, measures in reported.items():
        assert set(GRADERS[name].measures) <= set(measures), name
        assert all(registry.measure_class(measure) for measure in measures)
    kinds = set(re.findall(r"^\| `([a-z]+-[a-z-]+)` \|", text, re.MULTILINE))
    assert len(kinds) == 10
    assert kinds <= named_queries().keys()


def test_the_measure_of_ones_own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of the page on own measures goes through its commands, and its table names what a measure has."""
    text = (ROOT / "docs" / "own-measures.md").read_text(encoding="utf-8")
    [module] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "my_measures.py").write_text(module)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(registry, "_BY_NAME", {**registry._BY_NAME})
    monkeypatch.delitem(sys.modules, "my_measures", raising=False)
    [toml] = re.findall(r"(?:^    .*\n)+", text[text.index("    [weights") :].partition("\n\n")[0] + "\n", re.MULTILINE)
    (tmp_path / "g.toml").write_text(toml.replace("    ", ""))
    for run in "ab":
        written = tiny(tmp_path / "my-dataset", answers=[{**one, "run": run} for one in ANSWERS])
        written.rename(written.with_name(f"{run}.jsonl"))
    runs = ["my-dataset/runs/a.jsonl", "my-dataset/runs/b.jsonl"]
    commands = [line.split("#")[0] for line in re.findall(r"^    graphkit (.*)$", text, re.MULTILINE)]
    assert [line.split()[0] for line in commands] == ["evaluate", "evaluate", "report", "compare"]
    for line in commands:
        words = [word for one in shlex.split(line) for word in (runs if one.endswith("*.jsonl") else [one])]
        words += ["--no-store", "--full"] if words[0] == "evaluate" else []
        done = inside(*words, cwd=tmp_path, code=0)
        # Each walk has one edge, and two are allowed: no detour.
        assert words[0] != "evaluate" or "my_measures:Detour" in done.out
    values = [json.loads(line)["value"] for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert values == [0.0] * 8
    shown = Page((tmp_path / "report.html").read_text("utf-8")).json("summary")["measures"]
    assert "my_measures:Detour" in [one["name"] for one in shown]
    weighed = inside("evaluate", runs[0], "--no-store", "--json", "--config", "g.toml", cwd=tmp_path, code=0).object()
    # No detour counts 1, EdgeRecall is 0.75: .4 * 1 + .6 * .75 = .85.
    assert weighed["scorecard"]["layers"][0]["score"] == pytest.approx(0.85)
    for name in re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE))):
        assert name in Measure.__annotations__, name


def test_planted_defects_fit_their_lines() -> None:
    """Each defect that `python -m tests.planted` plants finds its line: one that doesn't would prove nothing."""
    assert [(one.name, why) for one in DEFECTS if (why := missing(one)) is not None] == []
