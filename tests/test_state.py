"""What modules keep between two calls, and the names that are theirs alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT

SOURCES = sorted((ROOT / "graphkit").rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in SOURCES}

#: What changes at the level of a module, with the reason why that can't mix up two callers.
STATE = {
    "base._shared": "the options of the command that runs: a process runs one",
    "base._reported_fields": "what the command that runs has said: it is emptied at its beginning",
    "secrets._remembered": "the secrets of the process, which all that it prints lacks",
    "base._results": "the standard output of the command that runs",
    "progress._shown": "the display of the terminal, of which there is one",
    "progress._clocks": "what goes on beside the commands of the process",
    "progress._display": "the display of the terminal, of which there is one",
    "intake._narrowed": "set for a block, and restored at its end",
    "problems._skips": "set for a block, and restored at its end",
    "problems._maps": "set for a block, and restored at its end",
    "assets.asked_as": "set for a block, and restored at its end",
    "collector._inside": "the collector of the process, counted under a lock",
    "collector._before": "the collector of the process, counted under a lock",
    "leases._leases": "the locks of the process, by their folders",
    "file_scoring._score": "a worker's own job: the process has no other",
    "file_scoring._unpacker": "a worker's own job: the process has no other",
    "shard_scoring._loaded": "by the name of a file, which holds the digest of its bytes",
    "warm._setup": "a sandboxed process's own job",
    "warm._given": "a sandboxed process's own job",
    "python_tests._kept_alive": "a sandboxed process's own job",
}

#: The methods that change a list, a set or a map.
CHANGES = {"add", "append", "clear", "extend", "pop", "setdefault", "update"}

#: What reads from outside: a cache of it would answer for another folder, or for what a file held before.
OUTSIDE = {
    "read_text",
    "read_bytes",
    "open",
    "glob",
    "rglob",
    "iterdir",
    "stat",
    "exists",
    "is_file",
    "getenv",
    "environ",
}

#: Cached functions that read the package's own files, which don't change while a process runs.
OWN_FILES = {"fragments._style", "prompts._prompts_in", "snippets.snippet"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module, at any depth."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def assigned(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return the name that a statement assigns to, and its value."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    return None


def filled(tree: ast.Module) -> set[str]:
    """Return the names at the level of a module that its functions fill: they begin as empty lists, sets or maps."""
    begun = {
        name for name, value in filter(None, map(assigned, tree.body)) if ast.unparse(value) in ("{}", "[]", "set()")
    }
    found = set()
    for function in functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                found.add(ast.unparse(node.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
                found.add(ast.unparse(node.func.value))
    return begun & found


@pytest.mark.slow("every module is imported and looked at")
def test_what_modules_keep_is_named() -> None:
    """Whatever a function changes at the level of a module stands in the table above, with its reason."""
    found = set()
    for path, tree in TREES.items():
        names = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        found |= {f"{path.stem}.{name}" for name in names | filled(tree)}
    assert "progress._display" in found
    assert "shard_scoring._loaded" in found
    assert found - STATE.keys() == set()


def test_caches_read_nothing_from_outside() -> None:
    """A cached function depends on its arguments alone, or on the package's own files."""
    cached, found = 0, set()
    for path, tree in TREES.items():
        for function in functions(tree):
            if any(ast.unparse(one).partition("(")[0] in ("cache", "lru_cache") for one in function.decorator_list):
                cached += 1
                used = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
                used |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                if used & OUTSIDE:
                    found.add(f"{path.stem}.{function.name}")
    assert cached > 20
    assert found - OWN_FILES == set()


def private(tree: ast.Module) -> Iterator[str]:
    """Yield the private names of other modules of graphkit that a module takes."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("graphkit", "tests")):
            yield from (
                f"{node.module}.{one.name}" for one in node.names if one.name.startswith("_") and one.name[:2] != "__"
            )
            modules |= {one.asname or one.name for one in node.names if one.name.islower()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and ast.unparse(node.value) in modules:
            yield ast.unparse(node)


@pytest.mark.slow("every module is parsed")
def test_private_names_stay_in_their_module() -> None:
    """No module takes a name with an underscore from another one; nor do the tests' helpers."""
    helpers = {path: ast.parse(path.read_text()) for path in (ROOT / "tests" / "helpers").rglob("*.py")}
    found: dict[Path, list[str]] = {path: [*private(tree)] for path, tree in (TREES | helpers).items()}
    assert {str(path): names for path, names in found.items() if names} == {}
    taken = ast.parse(
        "from graphkit.files import intake\nfrom graphkit.files.intake import _narrowed\nintake._narrowed"
    )
    assert [*private(taken)] == ["graphkit.files.intake._narrowed", "intake._narrowed"]
