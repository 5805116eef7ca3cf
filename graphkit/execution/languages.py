"""The languages that code is run in: their names, what is code in them, and how stand-ins are laid out."""

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

from graphkit.execution.outlines import (
    Outline,
    is_javascript,
    is_python,
    javascript_outline,
    python_outline,
    python_tree,
)

_INSIDE = Path(__file__).parent / "inside"

#: The longest name of a file or folder, in bytes.
_LONGEST_PART = 200


@dataclass(frozen=True, slots=True)
class Language:
    """A language that code is run in.

    Attributes
    ----------
    name
        As records and people write it, such as ``python``.
    tags
        What a fenced block of it may be labelled with.
    runner
        The file that runs one test inside the sandbox. It takes requests and sends replies; both are described in
        ``inside/python_tests.py``.
    asserter
        The file that evaluates an assertion inside a sandbox of its own, as ``inside/python_assertions.py`` says.
    forked
        Whether both are modules of Python, whose ``serve`` a warm interpreter calls in a child; else they are scripts
        for :meth:`program`, which read requests on descriptor 3, write replies to 4, close 5 when they have started,
        and find the job's ``stdin`` on 0.
    outline, is_code
        What a block does at its top level, and whether a text without a fence is code (given the entry point).
    named_arguments
        Whether arguments can be given by name.
    wrong_assertion
        Says why an assertion can't be read, or None; of a language that only its program reads it is None.
    layout
        Turns the stand-ins of a question (import path to source) into files (relative path to source). A ``ValueError``
        says, as a sentence, which import path can't be laid out and why.
    """

    name: str
    tags: frozenset[str]
    runner: Path
    asserter: Path
    forked: bool
    named_arguments: bool
    outline: Callable[[str], Outline]
    is_code: Callable[[str, str | None], bool]
    wrong_assertion: Callable[[str], str | None]
    layout: Callable[[Mapping[str, str]], dict[str, str]]
    _find: Callable[[], Path | None] = field(repr=False)
    _flags: Callable[[int], tuple[str, ...]] = field(repr=False)

    def program(self) -> Path | None:
        """Return the program that runs the language, or None where this machine has none."""
        return self._find()

    def argv(self, memory: int) -> tuple[str, ...] | None:
        """Return the command that runs it in a process of its own, with so many bytes of memory.

        It is empty where a warm interpreter runs it, and None where this machine has no program for it.
        """
        if self.forked:
            return ()
        program = self.program()
        return None if program is None else (str(program), *self.flags(memory))

    def script(self, *, judges: bool = False) -> str:
        """Return what runs inside the sandbox, by the name that a session takes."""
        file = self.asserter if judges else self.runner
        return file.stem if self.forked else file.name

    def flags(self, memory: int) -> tuple[str, ...]:
        """Return the options that the program is started with, where it may use so many bytes."""
        return self._flags(memory)


def language_named(name: str | None) -> Language | None:
    """Return a language by its name or by a tag of it, Python where none is named, and None where none is known."""
    if name is None:
        return PYTHON
    tag = name.strip().lower()
    return next((language for language in LANGUAGES if tag == language.name or tag in language.tags), None)


# --- Python ---------------------------------------------------------------------------------------------------------


def _python() -> Path | None:
    # The interpreter itself, and not the link to it that a virtual environment holds.
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def _python_flags(memory: int) -> tuple[str, ...]:
    return ("-I", "-S", "-B", "-u", "-X", "utf8")


def _python_layout(context: Mapping[str, str]) -> dict[str, str]:
    """Lay out ``a.b.c`` as ``a/b/c.py``, with the packages on the way; what is both module and package is a package."""
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
    runner=_INSIDE / "python_tests.py",
    asserter=_INSIDE / "python_assertions.py",
    forked=True,
    named_arguments=True,
    outline=python_outline,
    is_code=is_python,
    wrong_assertion=_wrong_python,
    layout=_python_layout,
    _find=_python,
    _flags=_python_flags,
)


# --- JavaScript -----------------------------------------------------------------------------------------------------

# fmt: off
#: What Node holds itself, without what lies below it, such as ``fs/promises``, and what it has as ``node:`` only.
NODE_MODULES = frozenset((
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
    "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
    "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
    "worker_threads", "zlib",
))
# fmt: on

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
    # What isn't on V8's heap, such as the program itself and its buffers, is left a quarter.
    # With vm-modules a module that can't be read is told from one that can't be linked.
    # The settings of OpenSSL lie among files that code may not read, and no code needs them.
    heap = f"--max-old-space-size={max(memory * 3 // 4 // 2**20, 16)}"
    return (heap, "--experimental-vm-modules", "--no-warnings", "--no-addons", "--openssl-config=/dev/null")


def _node_layout(context: Mapping[str, str]) -> dict[str, str]:
    """Lay out packages below ``node_modules``, with what they export, and ``./`` paths where they say.

    A source that imports and exports by statements is a module (``.mjs``), any other one is CommonJS.
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


def is_module(source: str, path: str = "") -> bool:
    """Tell whether a source of JavaScript is a module: it imports or exports by statements, or is named as one."""
    return path.endswith(".mjs") or (not path.endswith(".cjs") and _MODULE_SYNTAX.search(source) is not None)


JAVASCRIPT = Language(
    name="javascript",
    tags=frozenset({"javascript", "js", "mjs", "cjs", "node", "nodejs", "ecmascript"}),
    runner=_INSIDE / "javascript_tests.js",
    asserter=_INSIDE / "javascript_assertions.js",
    forked=False,
    named_arguments=False,
    outline=javascript_outline,
    is_code=is_javascript,
    wrong_assertion=lambda assertion: None if assertion.strip() else "it is empty",
    layout=_node_layout,
    _find=_node,
    _flags=_node_flags,
)

LANGUAGES = (PYTHON, JAVASCRIPT)
