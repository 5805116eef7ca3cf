"""The languages that graphkit runs: their names, how to recognise code, and the files of stand-ins."""

from __future__ import annotations

import json
import keyword
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from graphkit.plugins.sandbox.hosts import INSIDE, interpreter
from graphkit.plugins.sandbox.outlines import (
    Outline,
    is_javascript,
    is_python,
    javascript_outline,
    python_outline,
    python_tree,
)

#: The longest name of a file or folder, in bytes.
_LONGEST_PART = 200


@dataclass(frozen=True, slots=True)
class Language:
    """A language that graphkit runs."""

    name: str  # the name in records, such as ``python``
    tags: frozenset[str]  # the labels of its fenced blocks
    #: The file that runs one test inside the sandbox; ``inside/python_tests.py`` describes its requests and replies.
    runner: Path
    asserter: Path  # the file that evaluates an assertion inside another sandbox; see ``inside/python_assertions.py``
    #: Whether both are Python modules whose ``serve`` a warm interpreter calls in a child. If not, they are scripts for
    #: :meth:`program`, which read requests on descriptor 3, write replies to 4, close 5 when they have started, and
    #: find the job's ``stdin`` on 0.
    forked: bool
    named_arguments: bool  # whether the language has arguments by name
    #: Functions that outline a block, and return whether a text without a fence is code (given the entry point).
    outline: Callable[[str], Outline]
    is_code: Callable[[str, str | None], bool]
    #: Returns why an assertion can't be parsed, or None; always None if only the program can parse it.
    wrong_assertion: Callable[[str], str | None]
    #: Turns the stand-ins of a question (import path to source) into files (relative path to source). It raises a
    #: ``ValueError`` that names an unusable import path and the reason.
    layout: Callable[[Mapping[str, str]], dict[str, str]]
    program: Callable[[], Path | None] = field(repr=False)
    flags: Callable[[int], tuple[str, ...]] = field(repr=False)
    #: Further options of the program where it evaluates an assertion.
    asserter_flags: tuple[str, ...] = ()

    def argv(self, memory: int) -> tuple[str, ...] | None:
        """Return the command that runs it with so many bytes of memory.

        It is empty if a warm interpreter runs the language, and None if this machine has no program for it.
        """
        if self.forked:
            return ()
        program = self.program()
        return None if program is None else (str(program), *self.flags(memory))

    def script(self, *, assertion: bool = False) -> str:
        """Return the name, for a session, of the script that runs inside the sandbox."""
        file = self.asserter if assertion else self.runner
        return file.stem if self.forked else file.name


def language_named(name: str | None) -> Language | None:
    """Return a language by its name or a tag; Python for None, and None for an unknown name."""
    if name is None:
        return PYTHON
    tag = name.strip().lower()
    return next((language for language in LANGUAGES if tag == language.name or tag in language.tags), None)


# --- Python ---------------------------------------------------------------------------------------------------------


def _python_layout(context: Mapping[str, str]) -> dict[str, str]:
    """Lay out ``a.b.c`` as ``a/b/c.py``, with its packages; a module that is also a package becomes a package."""
    packages: set[tuple[str, ...]] = set()
    for path in context:
        parts = path.split(".")
        for part in parts:
            if not part.isidentifier() or keyword.iskeyword(part) or part != unicodedata.normalize("NFKC", part):
                raise ValueError(f'"{path}" isn\'t an import path of Python, such as auth_service.models')
            _check_length(path, part)
        if parts[0] in sys.stdlib_module_names or parts[0] in sys.builtin_module_names:
            raise ValueError(f'"{path}" would replace the module {parts[0]} of the standard library')
        if parts[0] in ("answer", "__main__", "__init__") or "__init__" in parts:
            raise ValueError(f'"{path}" has a name that is taken: {parts[0] if len(parts) == 1 else "__init__"}')
        packages.update(tuple(parts[:length]) for length in range(1, len(parts)))
    files = {"/".join((*package, "__init__.py")): "" for package in sorted(packages)}
    for path, source in context.items():
        parts = path.split(".")
        files["/".join((*parts, "__init__.py")) if tuple(parts) in packages else "/".join(parts) + ".py"] = source
    return files


def _wrong_python(assertion: str) -> str | None:
    tree = python_tree(assertion.strip())
    if tree is not None and tree.body:
        return None
    return "it is empty" if tree else "it is neither an expression nor statements of Python"


def _check_length(path: str, part: str) -> None:
    if len(part.encode()) > _LONGEST_PART:
        raise ValueError(f'"{path[:50]}…" has a part that is too long for the name of a file')


PYTHON = Language(
    name="python",
    tags=frozenset(
        {"python", "py", "python3", "py3", "python2", "python3.10", "python3.11", "python3.12", "python3.13"}
    ),
    runner=INSIDE / "python_tests.py",
    asserter=INSIDE / "python_assertions.py",
    forked=True,
    named_arguments=True,
    outline=python_outline,
    is_code=is_python,
    wrong_assertion=_wrong_python,
    layout=_python_layout,
    program=interpreter,
    flags=lambda memory: ("-I", "-S", "-B", "-u", "-X", "utf8"),
)


# --- JavaScript -----------------------------------------------------------------------------------------------------

#: Node's own modules, without those below them, such as ``fs/promises``, and those that need the prefix ``node:``.
NODE_MODULES = frozenset((Path(__file__).parent / "node_modules.txt").read_text(encoding="utf-8").split())

_NODE_PART = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$.~-]*\Z")
_NODE_SUFFIXES = (".js", ".mjs", ".cjs")
_MODULE_SYNTAX = re.compile(
    r"^[ \t]*(?:import[ \t]*(?:[\w$]+[ \t]*(?:,|from\b)|[{*'\"])|export[ \t]*(?:[{*]|default\b|const\b|let\b|var\b"
    r"|function\b|class\b|async\b))",
    re.MULTILINE,
)


@lru_cache(maxsize=1)
def _node() -> Path | None:
    found = shutil.which("node") or shutil.which("nodejs")
    return Path(found).resolve() if found else None


def _node_flags(memory: int) -> tuple[str, ...]:
    # A quarter of the memory is for everything outside V8's heap, such as the program and its buffers.
    # vm-modules distinguish a module that can't be parsed from one that can't be linked.
    # Code may not read the folder of OpenSSL's settings, and doesn't need them.
    heap = f"--max-old-space-size={max(memory * 3 // 4 // 2**20, 16)}"
    return (heap, "--experimental-vm-modules", "--no-warnings", "--no-addons", "--openssl-config=/dev/null")


def _node_layout(context: Mapping[str, str]) -> dict[str, str]:
    """Lay out packages below ``node_modules``, with their exports, and ``./`` paths relative to the code.

    A source with import or export statements is a module (``.mjs``), any other one is CommonJS.
    """
    files = {"package.json": '{"type": "commonjs"}'}
    exports: dict[str, dict[str, str]] = {}
    for path, source in context.items():
        relative = path.startswith(("./", "../"))
        parts = path.removeprefix("./").split("/")
        scoped = path.startswith("@")
        for number, part in enumerate(parts):
            if part in (".", ".."):
                raise ValueError(f'"{path}" leaves the folder that the code runs in')
            if not _NODE_PART.match(part[1:] if scoped and number == 0 else part) or part == "node_modules":
                raise ValueError(
                    f'"{path}" isn\'t an import path of JavaScript, such as auth-service/models or ./types'
                )
            _check_length(path, part)
        if not relative and (parts[0].removeprefix("node:") in NODE_MODULES or ":" in path):
            raise ValueError(f'"{path}" would replace the module {parts[0]} of Node')
        if scoped and len(parts) < 2:
            raise ValueError(f'"{path}" names a scope and no package, which would be {path}/NAME')
        if relative:
            folder, below = "", "/".join(parts)
            if _stem(below) == "answer" or below == "package.json":
                raise ValueError(f'"{path}" has a name that is taken: {below}')
        else:
            length = 2 if scoped else 1
            package = "/".join(parts[:length])
            folder, below = f"node_modules/{package}/", "/".join(parts[length:]) or "index"
            if below == "package.json":
                raise ValueError(f'"{path}" has a name that is taken: package.json')
        file = below if below.endswith(".json") else _stem(below) + (".mjs" if is_module(source, below) else ".js")
        clash = {folder + _stem(file) + suffix for suffix in (*_NODE_SUFFIXES, "")}
        if clash & files.keys():
            raise ValueError(f'"{path}" is a second source of one file')
        files[folder + file] = source
        if folder:
            names = {"./" + below, "./" + _stem(below)} | ({"."} if _stem(below) == "index" else set())
            exports.setdefault(folder, {}).update(dict.fromkeys(sorted(names), "./" + file))
    for folder, names_of in exports.items():
        files[f"{folder}package.json"] = json.dumps({"type": "commonjs", "exports": names_of})
    return files


def _stem(path: str) -> str:
    return str(PurePosixPath(path).with_suffix("")) if path.endswith(_NODE_SUFFIXES) else path


def is_module(source: str, path: str) -> bool:
    """Return whether a JavaScript source is a module: by its import or export statements, or by its name."""
    return path.endswith(".mjs") or (not path.endswith(".cjs") and _MODULE_SYNTAX.search(source) is not None)


JAVASCRIPT = Language(
    name="javascript",
    tags=frozenset({"javascript", "js", "mjs", "cjs", "node", "nodejs", "ecmascript"}),
    runner=INSIDE / "javascript_tests.js",
    asserter=INSIDE / "javascript_assertions.js",
    forked=False,
    named_arguments=False,
    outline=javascript_outline,
    is_code=is_javascript,
    wrong_assertion=lambda assertion: None if assertion.strip() else "it is empty",
    layout=_node_layout,
    program=_node,
    flags=_node_flags,
    asserter_flags=("--expose-internals",),  # for the parser that Node brings along
)

LANGUAGES = (PYTHON, JAVASCRIPT)
