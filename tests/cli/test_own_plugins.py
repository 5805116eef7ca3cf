"""Commands and options of another package: listed, called, and out of the way of graphkit's own if they are broken."""

from __future__ import annotations

import os
import re

import pytest

from tests.helpers.cli import Done, graphkit

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
