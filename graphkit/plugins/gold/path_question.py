"""PathQuestion and PathQuestion-Large: tabs separate question, answer and path, ``#`` the parts of the path."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import LINE, GoldRow, UnusableRowError
from graphkit.plugins.gold.triple_paths import path_of_triples

#: The relation that ends a path; the answer follows it once more.
_END = "<end>"


class PathQuestion(GoldFormat):
    """Reads ``question<tab>answer(answer/answer/)<tab>entity#relation#entity...``; ``*`` separates several paths."""

    name = "path-question"
    title = "PathQuestion: paths joined by #"
    lacks = (
        "A line has no id: the question is named by its file and line.",
        "Where there are several answers, the path leads to the first.",
    )
    lines = True

    def question(self, row: GoldRow) -> dict[str, Any]:
        columns = row.text(LINE).split("\t")
        if len(columns) < 3:
            what = f"a line must have a question, an answer and a path with tabs between, and has {len(columns)} column"
            raise UnusableRowError(what + ("" if len(columns) == 1 else "s"))
        if any(columns[3:]):
            row.notes.append("the text after the path isn't used")
        question, answer, path = (column.strip() for column in columns[:3])
        first, _, others = answer.partition("(")
        answers = list(dict.fromkeys(filter(None, [first, *others.removesuffix(")").split("/")])))
        if len(answers) > 1:
            row.notes.append("the question has several answers, and the path leads to one")
        return {
            "id": f"{row.stem}-{row.number}{row.suffix}",
            "question": question,
            "gold_answer": first,
            "relevant": dict.fromkeys(answers, 1.0),
            "paths": [_path(part) for part in path.split("*")],
        }


def _path(text: str) -> dict[str, Any]:
    parts = text.split("#")
    if _END in parts:
        parts = parts[: parts.index(_END)]
    if len(parts) < 3 or len(parts) % 2 == 0 or not all(parts):
        raise UnusableRowError(f"a path must be entity#relation#entity and so on, not {text[:80]!r}")
    return path_of_triples(zip(parts[:-2:2], parts[1::2], parts[2::2], strict=True))
