"""Finds the fields that may name the question of each row, by the ids and the texts of the dataset's questions."""

from __future__ import annotations

from dataclasses import dataclass

from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.plugins.mapping.field_values import ITEM, KNOWN, FieldPath, RowValues, Vocabulary, expression_of


@dataclass(frozen=True)
class QuestionField:
    """The field that names the question of each row: by its id or its text, or as the keys of an object."""

    rows: str | None
    path: FieldPath
    by_text: bool
    distinct: int
    known: int
    total: int

    @property
    def assignments(self) -> list[str]:
        """The assignments that find the rows and name their questions."""
        name = "question" if self.by_text else "question_id"
        return [*([f"rows={self.rows}"] if self.rows else []), f"{name}={expression_of(self.path)}"]

    def rows_within(self, raw: RowValues) -> RowValues:
        """Return the rows whose questions the field names, which may be objects within those of the log."""
        if self.rows is None:
            return raw
        fields, values = FieldMap([f"rows={self.rows}"]), RowValues()
        for value in raw.rows:
            for row in fields.rows(value) or ():
                values.add(row)
        return values

    def questions(self, values: RowValues, vocabulary: Vocabulary) -> list[str | None]:
        """Return the question of each row."""
        found: list[str | None] = [None] * len(values.rows)
        for row, value in values.leaves.get(self.path, ()):
            found[row] = vocabulary.question(value)
        return found


def question_fields(raw: RowValues, vocabulary: Vocabulary) -> list[QuestionField]:
    """Return the fields that may name the question of a row, the best first."""
    found: list[QuestionField] = []
    for path, held in raw.leaves.items():
        if path and path[-1] is ITEM:
            continue
        known = [name for _, value in held if (name := vocabulary.question(value))]
        if not known or len(known) < KNOWN * len(held):
            continue
        place = max((place for place, part in enumerate(path) if part is ITEM), default=-1)
        rows = expression_of(path[: place + 1]) if place >= 0 else None
        by_text = not any(isinstance(value, int) or value in vocabulary.questions.ids for _, value in held)
        found.append(QuestionField(rows, path[place + 1 :], by_text, len(set(known)), len(known), len(held)))
    for path, keyed in raw.keys.items():
        names = [name for _, keys in keyed for name in keys]
        known = [name for key in names if (name := vocabulary.question(key))]
        if known and len(known) >= KNOWN * len(names) and ITEM not in path:
            rows = f"items({expression_of(path)})[*].{{key: [0], value: [1]}}"
            by_text = not any(name in vocabulary.questions.ids for name in names)
            found.append(QuestionField(rows, ("key",), by_text, len(set(known)), len(known), len(names)))
    texts = {one.rows: one for one in found if one.by_text}

    def agrees(one: QuestionField) -> bool:
        """Whether an id isn't contradicted by a text beside it: a row's own number may look like a question's."""
        text = texts.get(one.rows)
        if one.by_text or text is None:
            return True
        values = one.rows_within(raw)
        pairs = zip(one.questions(values, vocabulary), text.questions(values, vocabulary), strict=True)
        return all(first == second for first, second in pairs if first and second)

    found = [one for one in found if agrees(one)]
    return sorted(found, key=lambda one: (-one.distinct, (one.rows or "").count("[]"), one.by_text, len(one.path)))
