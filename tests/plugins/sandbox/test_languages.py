"""The languages: their names, their programs, and how stand-ins are laid out."""

from __future__ import annotations

import json
import subprocess

import pytest

from graphkit.plugins.sandbox.languages import JAVASCRIPT, NODE_MODULES, PYTHON, Language, language_named


@pytest.mark.parametrize(
    ("name", "language"),
    [
        (None, PYTHON),
        ("python", PYTHON),
        ("Py", PYTHON),
        ("python3", PYTHON),
        ("javascript", JAVASCRIPT),
        (" JS ", JAVASCRIPT),
        ("node", JAVASCRIPT),
        ("jsx", None),
        ("rust", None),
        ("", None),
    ],
)
def test_language_named(name: str | None, language: Language | None) -> None:
    """A language is known by its name and by its tags; without a name it is Python."""
    assert language_named(name) is language


def test_programs() -> None:
    """The program of Python is a real interpreter, not a link to one, and each runner is there."""
    program = PYTHON.program()
    assert program is not None
    assert program == program.resolve()
    assert PYTHON.runner.is_file()
    assert JAVASCRIPT.runner.is_file()
    assert PYTHON.forked
    assert not JAVASCRIPT.forked
    assert JAVASCRIPT.flags(2**30)[0] == "--max-old-space-size=768"


@pytest.mark.parametrize(
    ("context", "files"),
    [
        ({}, {}),
        ({"a": "x"}, {"a.py": "x"}),
        ({"a.b.c": "x"}, {"a/__init__.py": "", "a/b/__init__.py": "", "a/b/c.py": "x"}),
        ({"a": "y", "a.b": "x"}, {"a/__init__.py": "y", "a/b.py": "x"}),
        ({"a.b.c": "x", "a.b": "y", "a": "z"}, {"a/__init__.py": "z", "a/b/__init__.py": "y", "a/b/c.py": "x"}),
        ({"größe": "x"}, {"größe.py": "x"}),
    ],
)
def test_python_layout(context: dict[str, str], files: dict[str, str]) -> None:
    """Packages lie on the way, and what is both a module and a package is the package."""
    assert PYTHON.layout(context) == files


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("json", "standard library"),
        ("os.path", "standard library"),
        ("sys", "standard library"),
        ("__future__", "standard library"),
        ("answer", "taken"),
        ("a.__init__", "taken"),
        ("", "isn't an import path"),
        ("a..b", "isn't an import path"),
        (".a", "isn't an import path"),
        ("../a", "isn't an import path"),
        ("/etc/passwd", "isn't an import path"),
        ("a/b", "isn't an import path"),
        ("a-b", "isn't an import path"),
        ("a\x00b", "isn't an import path"),
        ("class", "isn't an import path"),
        ("a.None", "isn't an import path"),
        ("ﬁle", "isn't an import path"),
        ("a" * 300, "too long"),
    ],
)
def test_python_refuses(path: str, why: str) -> None:
    """A file that would replace a module of Python, leave the folder or never be imported is refused."""
    with pytest.raises(ValueError, match=why):
        PYTHON.layout({path: ""})


def test_javascript_layout() -> None:
    """Packages have what they export, modules their ending, and relative paths their place."""
    context = {
        "auth-service": "module.exports = 1",
        "auth-service/models": "export const a = 1",
        "@acme/auth/deep/er.js": "exports.a = 1",
        "./shared/types": "import a from 'a'",
        "./data.json": "{}",
    }
    files = JAVASCRIPT.layout(context)
    assert {path for path in files if not path.endswith("package.json")} == {
        "node_modules/auth-service/index.js",
        "node_modules/auth-service/models.mjs",
        "node_modules/@acme/auth/deep/er.js",
        "shared/types.mjs",
        "data.json",
    }
    assert json.loads(files["node_modules/auth-service/package.json"])["exports"] == {
        ".": "./index.js",
        "./index": "./index.js",
        "./models": "./models.mjs",
    }
    exports = json.loads(files["node_modules/@acme/auth/package.json"])["exports"]
    assert exports == {"./deep/er": "./deep/er.js", "./deep/er.js": "./deep/er.js"}


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"fs": ""}, "module fs of Node"),
        ({"fs/promises": ""}, "module fs of Node"),
        ({"node:test": ""}, "isn't an import path"),
        ({"../a": ""}, "leaves the folder"),
        ({"./../a": ""}, "leaves the folder"),
        ({"a/../../b": ""}, "leaves the folder"),
        ({"/etc/passwd": ""}, "isn't an import path"),
        ({"a\\b": ""}, "isn't an import path"),
        ({"": ""}, "isn't an import path"),
        ({"a//b": ""}, "isn't an import path"),
        ({"a/.hidden": ""}, "isn't an import path"),
        ({"@acme": ""}, "names a scope"),
        ({"a/node_modules/b": ""}, "isn't an import path"),
        ({"./answer": ""}, "taken"),
        ({"a/package.json": ""}, "taken"),
        ({"./package.json": ""}, "taken"),
        ({"a": "", "a/index.js": ""}, "second source"),
        ({"./a": "", "./a.mjs": "export const a = 1"}, "second source"),
        ({"./" + "a" * 300: ""}, "too long"),
    ],
)
def test_javascript_refuses(context: dict[str, str], why: str) -> None:
    """A file that would replace a module of Node, leave the folder or be two files in one is refused."""
    with pytest.raises(ValueError, match=why):
        JAVASCRIPT.layout(context)


@pytest.mark.usefixtures("node")
def test_modules_of_node() -> None:
    """The list of Node's own modules holds what this Node says of itself."""
    program = "console.log(JSON.stringify(require('module').builtinModules))"
    done = subprocess.run([str(JAVASCRIPT.program()), "-e", program], capture_output=True, text=True, check=True)
    names = {name.partition("/")[0] for name in json.loads(done.stdout)}
    assert {name for name in names if not name.startswith(("_", "node:"))} <= NODE_MODULES
