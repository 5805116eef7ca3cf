"""What a measure is: a frozen value that scores one case, and prints to the text it is parsed from."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from graphkit.measures.case import Case
from graphkit.measures.unscored import (
    NEITHER_LOGGED,
    NO_GOLD,
    NO_ORDER,
    NO_RELEVANT,
    NO_RETRIEVAL,
    NO_TRAVERSAL,
    NOTHING_TRAVERSED,
    Unscored,
)

__all__ = [
    "DEFAULT_K",
    "LAYERS",
    "NEITHER_LOGGED",
    "NOTHING_TRAVERSED",
    "NO_GOLD",
    "NO_ORDER",
    "NO_RELEVANT",
    "NO_RETRIEVAL",
    "NO_TRAVERSAL",
    "CutMeasure",
    "Measure",
    "Thresholds",
    "Unscored",
]

#: The cut-off where neither the question nor the measure names one.
DEFAULT_K = 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A mean better than ``target`` is on target, one worse than ``severe`` is an alert; None where there is none."""

    target: float | None = None
    severe: float | None = None


#: The layers that a measure may belong to.
LAYERS = ("retrieval", "reasoning", "generation")


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of one question of one run.

    A measure is a value: two with the same parameters are equal, ``str(measure)`` is its name with the parameters that
    differ from their defaults, and :func:`graphkit.parse_measure` reads that text back.

    A subclass defines :meth:`value`, and as class attributes what is known of the measure, here and nowhere else:

    - ``definition``: the formula in one sentence; by default the first line of the docstring
    - ``source``: where it comes from; by default its module
    - ``layer``: the layer that it belongs to
    - ``higher_is_better``: its direction
    - ``lowest``, ``highest``: the bounds of its values; None where there is none
    - ``target``, ``severe``: its :class:`Thresholds`, with ``target_parameters`` where they are those of the measure
      with other parameters than the defaults, such as ``{"k": 10}``
    - ``aliases``: other names for it
    - ``query``: the Cypher text in ``cypher/measures/`` that computes it over all questions, or None where Cypher has
      no means (text normalisation), and ``query_parameters``
    - ``needs_commits``: whether it asks which commits belong together
    - ``computed``: False where a judge gives its values, and graphkit has only the declaration

    A measure of one's own is known by its module and class, as ``my_module:MyMeasure``, or by a name that
    :func:`graphkit.register` or an entry point gave it; that is what ``str`` prints.
    """

    #: The name that its text begins with, and that it is found by.
    name: ClassVar[str]

    definition: ClassVar[str]
    source: ClassVar[str]
    layer: ClassVar[str] = "retrieval"
    query: ClassVar[str | None] = None
    query_parameters: ClassVar[Mapping[str, object]] = MappingProxyType({})
    aliases: ClassVar[tuple[str, ...]] = ()
    higher_is_better: ClassVar[bool] = True
    lowest: ClassVar[float | None] = 0.0
    highest: ClassVar[float | None] = 1.0
    target: ClassVar[float | None] = None
    severe: ClassVar[float | None] = None
    target_parameters: ClassVar[Mapping[str, object]] = MappingProxyType({})
    needs_commits: ClassVar[bool] = False
    computed: ClassVar[bool] = True

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        cls.name = f"{cls.__module__}:{cls.__qualname__}" if cls.is_custom() else cls.__name__
        if cls.is_custom() and "value" in cls.__dict__:
            # What another value is computed by isn't the Cypher of the measure that was taken as its base.
            cls.query = cls.__dict__.get("query")
            cls.aliases = cls.__dict__.get("aliases", ())
        if not hasattr(cls, "definition"):
            cls.definition = (cls.__dict__.get("__doc__") or "").strip().partition("\n")[0].rstrip(".") or cls.__name__
        if not hasattr(cls, "source"):
            cls.source = cls.__module__

    @classmethod
    def is_custom(cls) -> bool:
        """Tell whether somebody else than graphkit defines it, so that its mistakes are told as theirs."""
        return cls.__module__.partition(".")[0] != "graphkit"

    def score(self, case: Case) -> float | Unscored:
        """Return the value for one case, or the reason why there is none.

        A question without a record in the run, or with a record that carries an error, is not scored: the reason is
        that of the question where no answer to it could be scored, and the failure otherwise.
        """
        failure = case.failure
        if failure is None:
            return self.value(case)
        return self._of_question(case) or Unscored(failure)

    def _of_question(self, case: Case) -> Unscored | None:
        """Return why no answer to this question could be scored; None where one could."""
        try:
            value = self.value(case.unanswered)
        except Exception:
            if self.is_custom():  # it may expect more of an answer than an empty one has
                return None
            raise
        return value if isinstance(value, Unscored) and value.of_question else None

    @abstractmethod
    def value(self, case: Case) -> float | Unscored:
        """Return the value for a case whose record exists and carries no error, or the reason why there is none.

        This is what a measure defines; who wants the value of any case asks :meth:`score`.
        """

    def settings(self) -> dict[str, object]:
        """Return every parameter by name, defaults included."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def parameters(self) -> dict[str, object]:
        """Return what the Cypher query takes: every parameter, and what it is told besides."""
        return {**self.query_parameters, **self.settings()}

    def thresholds(self) -> Thresholds:
        """Return the target and the severe threshold; none where its parameters aren't those that they are meant for.

        A cut-off that neither the defaults nor ``target_parameters`` name may be any.
        """
        for field in dataclasses.fields(self):
            wanted = self.target_parameters.get(field.name, field.default)
            if getattr(self, field.name) != wanted and not (field.name == "k" and wanted is None):
                return Thresholds()
        return Thresholds(self.target, self.severe)

    @classmethod
    def engines(cls) -> tuple[str, ...]:
        """Return what gives its values: Python, Cypher too, or a judge."""
        if not cls.computed:
            return ("judge",)
        return ("python", "cypher") if cls.query is not None else ("python",)

    def __str__(self) -> str:
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if field.name != "k" and getattr(self, field.name) != field.default
        ]
        text = self.name + (f"({', '.join(given)})" if given else "")
        cutoff = getattr(self, "k", None)
        return text if cutoff is None else f"{text}@{cutoff}"


@dataclass(frozen=True)
class CutMeasure(Measure):
    """A measure of the first k ranks. k is the question's own, else the measure's, else 5."""

    k: int | None = None

    def cutoff(self, case: Case) -> int:
        """Return the k that applies to a case."""
        return case.question.k or self.k or DEFAULT_K
