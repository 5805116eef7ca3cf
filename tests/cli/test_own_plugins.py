"""Commands and options of another package: listed, called, and out of the way of graphkit's own if they are broken."""

from __future__ import annotations

import os
import re

import pytest

from tests.helpers.cli import Done, graphkit
from tests.helpers.datasets import STOREFRONT

POINTS = """\
[graphkit.commands]
evaluate = my_words:hello
hello = my_words:hello
broken = no_module:x
bad = "my_words"
module = my_words:os
db.remove = my_words:hello
[graphkit.options.load]
mine = no_module:x
"""

WORDS = '''\
import os


def hello():
    """Say hello."""
    print("hello")
'''


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What commands do beside a package whose entry points are partly broken, or have names of the core's."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "my_words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-words\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (folder / "my_words.py").write_text(WORDS)
    env = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    asked = (
        "--help",
        "hello",
        "broken",
        "bad",
        "module",
        "completion bash",
        "db remove --help",
        "load --help",
        "load --mine",
    )
    return {words: graphkit(*words.split(), cwd=folder, env=env) for words in asked}


def test_commands_of_the_core_keep_their_place(done: dict[str, Done]) -> None:
    """The help has `evaluate` once, among the core's, `hello` in a section of its package, and no broken command."""
    helped = done["--help"].out
    assert re.findall(r"^ +(?:\w+ +)?(\w+) +Say hello", helped, re.MULTILINE) == ["hello"]
    assert re.search(r"^ +score +evaluate +Score runs", helped, re.MULTILINE)
    assert "broken" not in helped
    assert "run|dataset" in done["db remove --help"].out
    assert done["hello"].out == "hello\n"


def test_broken_commands_are_called_by_their_package(done: dict[str, Done]) -> None:
    """A command that can't be imported, or is none, names its entry point and package, and no plug-in of graphkit."""
    broken, module = done["broken"], done["module"]
    assert (broken.code, module.code, done["bad"].code) == (2, 2, 2)
    assert "error: the entry point 'broken' of my-words (no_module:x): there is no module 'no_module'" in broken.err
    assert "error: the entry point 'module' of my-words (my_words:os): `graphkit module` is no command" in module.err
    assert "the entry point 'bad' of my-words" in done["bad"].err
    assert "graphkit-eval" not in broken.err + module.err


def test_broken_commands_leave_the_others(done: dict[str, Done]) -> None:
    """The script for a shell is printed without them, and a command without options that can't be imported."""
    script = done["completion bash"]
    assert script.code == 0, script.err
    assert "'hello')" in script.out
    assert not re.search(r"\b(broken|bad|module)\b", script.out)
    assert done["load --help"].code == 0
    assert "No such option: --mine; the entry point 'mine' of my-words (no_module:x)" in done["load --mine"].err


#: In each group to which packages add, what can't be used so, behind `fmod:`.
UNFIT = {
    **{
        f"graphkit.options.{command}": ("Plain", "Bare", "Undeclared", "thing")
        for command in ("evaluate", "load", "report", "query", "queries", "compare")
    },
    "graphkit.conditions": ("Plain", "Bare", "thing"),
    "graphkit.beside": ("Plain", "thing"),
    "graphkit.outputs": ("Plain", "thing"),
    "graphkit.tables": ("Plain", "thing"),
    "graphkit.executors": ("Plain", "thing"),
    "graphkit.refusals": ("Plain", "thing"),
}

FMOD = """\
from dataclasses import dataclass

class Plain: pass

@dataclass
class Bare: pass

@dataclass
class Undeclared:
    word: str
    def check(self): pass
    baseline = write = section = files = asked = fill = show = written = system = check

thing = {"a": 1}
"""

#: What is asked, and the group of what refuses it; None for what goes on without.
ASKED_BESIDE_UNFIT = {
    "evaluate RUN --no-store -m EdgeRecall": None,
    "report RUN -o page.html": None,
    "failures RUN": None,
    "compare RUN GRAPH": None,
    "load --help": None,
    "query --help": None,
    "queries --help": None,
    "import auto note.json -d DATASET -o run.jsonl": "",
    "evaluate RUN --no-store -m EdgeRecall -o r.plain": "graphkit.outputs",
    "evaluate RUN --no-store -m EdgeRecall -o r.thing": "graphkit.outputs",
    "evaluate RUN --no-store -m EdgeRecall --on plain": "graphkit.executors",
    "evaluate RUN --no-store -m EdgeRecall --on thing": "graphkit.executors",
    "evaluate RUN --no-store -m EdgeRecall --scores s.plain": "graphkit.tables",
    "evaluate RUN --no-store -m EdgeRecall --scores s.thing": "graphkit.tables",
    "load-scores a.plain.jsonl": "graphkit.beside",
    "load-scores a.thing.jsonl": "graphkit.beside",
    "run DATASET --condition plain": "graphkit.conditions",
    "run DATASET --condition thing": "graphkit.conditions",
}


@pytest.fixture(scope="module")
def unfit(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What commands do beside a package whose entry points name objects that can't be used so."""
    folder = tmp_path_factory.mktemp("unfit")
    info = folder / "fmod-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fmod\nVersion: 1.0\n")
    lines = [f"[{group}]\n" + "".join(f"{name.lower()} = fmod:{name}\n" for name in UNFIT[group]) for group in UNFIT]
    (info / "entry_points.txt").write_text("".join(lines))
    (folder / "fmod.py").write_text(FMOD)
    for name in ("s.plain", "s.thing", "a.plain.jsonl", "a.thing.jsonl"):
        (folder / name).touch()
    (folder / "note.json").write_text('{"a": 1}')
    env = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    run = str(STOREFRONT / "runs" / "storefront-bm25.jsonl")
    named = {"RUN": run, "GRAPH": run.replace("bm25", "graph"), "DATASET": str(STOREFRONT)}
    return {
        asked: graphkit(*(named.get(word, word) for word in asked.split()), cwd=folder, env=env)
        for asked in ASKED_BESIDE_UNFIT
    }


@pytest.mark.slow("a process for each command and kind of entry point")
@pytest.mark.parametrize("asked", ASKED_BESIDE_UNFIT)
def test_objects_of_another_kind_are_left_out(asked: str, unfit: dict[str, Done]) -> None:
    """What an entry point names is refused by its package and its name if it can't be used so, and only if asked."""
    done, group = unfit[asked], ASKED_BESIDE_UNFIT[asked]
    assert done.code == (0 if group is None else 2), done.err
    assert "Traceback" not in done.err
    if group:
        assert re.search(
            r"error: the entry point '(plain|thing)' of fmod \(fmod:(Plain|thing)\): this isn't ", done.err
        )


#: What goes on beside entry points that can't be used, their group, and how the sentence on each begins.
SAID_BESIDE_UNFIT = (
    ("evaluate RUN --no-store -m EdgeRecall", "graphkit.options.evaluate", "ignored"),
    ("report RUN -o page.html", "graphkit.options.report", "ignored"),
    ("compare RUN GRAPH", "graphkit.options.compare", "ignored"),
    ("run DATASET --condition plain", "graphkit.conditions", "ignored"),
    ("import auto note.json -d DATASET -o run.jsonl", "graphkit.refusals", "a refusal is ignored"),
)


@pytest.mark.parametrize(("asked", "group", "begin"), SAID_BESIDE_UNFIT)
def test_what_is_left_out_is_said_once(asked: str, group: str, begin: str, unfit: dict[str, Done]) -> None:
    """A command that goes on without an entry point names it and says why, in a sentence."""
    said = re.findall(rf"note: {begin}: the entry point '(\w+)' of fmod \(fmod:\w+\): this isn't ", unfit[asked].err)
    assert said == [name.lower() for name in UNFIT[group]]
    assert unfit["failures RUN"].err.count("ignored") == 0  # plug-ins add nothing to it
