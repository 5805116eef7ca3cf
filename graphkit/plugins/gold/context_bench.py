"""ContextBench: the blocks of files that solving an issue requires."""

from __future__ import annotations

import re
from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, decoded
from graphkit.plugins.logs.definitions import definition

#: The folders of the repository in the annotators' containers.
_ROOTS = re.compile(r"(?:/testbed/|/workspace/[^/]+/|\./|/)")


class ContextBench(GoldFormat):
    """Reads ``gold_context``, a list of blocks (file, first and last line, content) of ``repo`` at ``base_commit``."""

    name = "context-bench"
    title = "ContextBench: gold_context"
    told_by = ("gold_context",)
    lacks = (
        "There are no paths and no relevant ids: only files and symbols are expected.",
        "The lines of a block aren't kept, only its file and the symbols whose definitions begin in its content.",
        "A block without content, or from within a definition, gives no symbol.",
    )
    repositories = True

    def question(self, row: GoldRow) -> dict[str, Any]:
        repo, commit = _repository(row), row.text("base_commit", "commit")
        files: dict[str, None] = {}
        symbols: dict[str, None] = {}
        for number, block in enumerate(_blocks(row), 1):
            path = block.get("file") or block.get("path") or block.get("file_path") if isinstance(block, dict) else None
            if not isinstance(path, str):
                raise UnusableRowError(f"block {number} of 'gold_context' names no file")
            path = path.replace("\\", "/")
            files[f"{repo}:{path[found.end() :] if (found := _ROOTS.match(path)) else path}"] = None
            content = block.get("content")
            begun = [definition(line) for line in content.splitlines()] if isinstance(content, str) else []
            symbols.update(dict.fromkeys(one.symbol for one in begun if one))
        if not symbols:
            row.notes.append("no block begins a definition: no symbol is expected")
        return {
            "id": row.name("instance_id", "inst_id", "original_inst_id"),
            "question": row.text("problem_statement", "prompt", "question"),
            "group": repo,
            "commits": {repo: commit},
            "expected_files": list(files),
            "expected_symbols": list(symbols),
            "symbol_match": "last_component" if symbols else None,
        }


def _repository(row: GoldRow) -> str:
    """Return the repository as ``owner/name``, even if it is given by its address."""
    repo = row.text("repo", "repo_url").strip().rstrip("/").removesuffix(".git")
    return "/".join(repo.split("/")[-2:]) if "://" in repo else repo.replace(":", "/")


def _blocks(row: GoldRow) -> list[Any]:
    """Return the blocks; an older version of the format has them in two lists."""
    blocks = decoded(row.get("gold_context"), "gold_context")
    if blocks is None:
        parts = [row.get("init_ctx") or [], row.get("add_ctx") or []]
        blocks = [block for part in parts for block in part] if all(isinstance(part, list) for part in parts) else None
    if not isinstance(blocks, list) or not blocks:
        raise UnusableRowError("the field 'gold_context' must be a list of blocks that isn't empty")
    return blocks
