"""Questions found by their texts, for records that name no id."""

from __future__ import annotations

from graphkit.errors import InputError


class QuestionTexts:
    """The ids of questions, and the id of each text, regardless of letter case and white space.

    >>> asked = QuestionTexts()
    >>> asked.add("q1", "Who calls  it?")
    >>> asked.id_of("who calls it?"), asked.id_of("q1"), asked.id_of("Why?")
    ('q1', 'q1', None)
    """

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._by_text: dict[str, str | None] = {}

    def add(self, name: str, text: str) -> None:
        """Add a question."""
        self.ids.add(name)
        key = _key(text)
        if self._by_text.setdefault(key, name) != name:
            self._by_text[key] = None

    def id_of(self, text: str) -> str | None:
        """Return the id of a question by its text, or by its id in the place of a text; None if it isn't unique."""
        return text if text in self.ids else self._by_text.get(_key(text))

    def required(self, text: str) -> str:
        """Return the id of a question by its text.

        Raises
        ------
        InputError
            No question has it, or several have, or no question is known.
        """
        found = self.id_of(text)
        if found is not None:
            return found
        if not self.ids:
            what = "it names its question by its text, and no questions are found beside it"
            raise InputError(what, remedy="Name the dataset by --dataset.")
        many = _key(text) in self._by_text
        what = "several questions of the dataset have this text" if many else "no question of the dataset has this text"
        raise InputError(what, remedy="Give the record the id of its question as question_id.")


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
