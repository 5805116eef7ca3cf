"""The base class of measures: frozen values that score one case and print to the text that names them."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from graphkit.measures.case import Case
from graphkit.measures.unscored import Unscored

__all__ = ["DEFAULT_K", "LAYERS", "CutMeasure", "Measure", "Thresholds", "Unscored"]

#: The cut-off if neither the question nor the measure names one.
DEFAULT_K = 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A mean better than ``target`` is on target, one worse than ``severe`` is an alert; None if there is none."""

    target: float | None = None
    severe: float | None = None


#: The layers that a measure may belong to.
LAYERS = ("retrieval", "reasoning", "generation")


class _Frozen:
    """Refuses attributes on graphkit's measures, so that those without fields need no ``@dataclass``.

    Each ``@dataclass`` takes a third of a millisecond of every start.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if type(self).__module__.partition(".")[0] == "graphkit":
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super().__setattr__(name, value)


@dataclass(frozen=True)
class Measure(_Frozen, ABC):
    """A measure of one question of one run.

    A measure is a value: two with the same parameters are equal, ``str(measure)`` is its name with the parameters that
    differ from their defaults, and :func:`graphkit.parse_measure` reads that text back.

    A subclass defines :meth:`value` and declares the rest as class attributes:

    - ``definition``: the formula in one sentence; by default the first paragraph of the docstring
    - ``source``: its origin in the literature; by default its module
    - ``layer``: its layer
    - ``higher_is_better``: its direction
    - ``lowest``, ``highest``: the bounds of its values; None if unbounded
    - ``target``, ``severe``: its :class:`Thresholds`; ``target_parameters`` names the parameters that they apply to,
      such as ``{"k": 10}``, unless these are the defaults
    - ``aliases``: other names for it
    - ``query``: the Cypher text in ``cypher/measures/`` that computes it over all questions, with
      ``query_parameters``; None if Cypher can't (text normalisation)
    - ``needs_commits``: whether it reads which commits belong together
    - ``needs_graph``: whether it reads the edges of the knowledge graphs
    - ``reads_declined``: whether it reads which records decline to answer
    - ``counts_questions``: whether it says of each question if something happened, which a gate may forbid altogether
    - ``computed``: False if a judge or a person gives its values

    ``str`` prints a user's measure as ``my_module:MyMeasure``, or by the name that :func:`graphkit.register` or an
    entry point gave it.
    """

    #: The name that its text begins with.
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
    needs_graph: ClassVar[bool] = False
    reads_declined: ClassVar[bool] = False
    counts_questions: ClassVar[bool] = False
    computed: ClassVar[bool] = True

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        cls.name = f"{cls.__module__}:{cls.__qualname__}" if cls.is_custom() else cls.__name__
        if cls.is_custom() and "value" in cls.__dict__:
            # The base's Cypher query doesn't compute what this class computes.
            cls.query = cls.__dict__.get("query")
            cls.aliases = cls.__dict__.get("aliases", ())
        if "definition" not in cls.__dict__:
            first = (cls.__dict__.get("__doc__") or "").partition("\n\n")[0]
            if first or not hasattr(cls, "definition"):
                cls.definition = " ".join(first.split()).rstrip(".") or cls.__name__
        if not hasattr(cls, "source"):
            cls.source = cls.__module__

    @classmethod
    def is_custom(cls) -> bool:
        """Return whether a user or a plugin defines it: its exceptions are then reported as theirs."""
        return cls.__module__.partition(".")[0] != "graphkit"

    def score(self, case: Case) -> float | Unscored:
        """Return the value for one case, or the reason why there is none.

        A question without a record in the run, or whose record carries an error, is not scored. The reason is the
        question's own if no answer to it could be scored, and the failure otherwise.
        """
        failure = case.failure
        if failure is None:
            return self.value(case)
        return self._of_question(case) or Unscored(failure)

    def _of_question(self, case: Case) -> Unscored | None:
        """Return why no answer to this question could be scored; None if one could."""
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

        A measure defines this method; callers use :meth:`score`, which accepts any case.
        """

    def details(self, case: Case) -> Mapping[str, list[str]]:
        """Return texts by name that the graph keeps with the score, such as the gold paths that count; by default none.

        The case is one whose record exists and carries no error, and whose gold is valid.
        """
        return {}

    def settings(self) -> dict[str, object]:
        """Return every parameter by name, defaults included."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the Cypher query: those of the measure and ``query_parameters``."""
        return {**self.query_parameters, **self.settings()}

    def thresholds(self) -> Thresholds:
        """Return the target and the severe threshold; empty if they apply to other parameters than these.

        They apply to any cut-off if neither the defaults nor ``target_parameters`` name one.
        """
        for field in dataclasses.fields(self):
            wanted = self.target_parameters.get(field.name, field.default)
            if getattr(self, field.name) != wanted and not (field.name == "k" and wanted is None):
                return Thresholds()
        return Thresholds(self.target, self.severe)

    @classmethod
    def engines(cls) -> tuple[str, ...]:
        """Return the engines that give its values: Python, Cypher, a judge, or a person."""
        if not cls.computed:
            return ("judge",)
        return ("python", "cypher") if cls.query is not None else ("python",)

    @property
    def compares_relations(self) -> bool:
        """Whether it compares the relations of traversed edges with those of gold."""
        return False

    @property
    def compares_edges(self) -> bool:
        """Whether it compares traversed edges with those of gold, be it without their relations."""
        return hasattr(self, "directed")

    def untyped(self) -> Measure:
        """Return the measure that compares edges without their relations; one that does so already returns itself."""
        return dataclasses.replace(self, relation=False) if self.compares_relations else self  # type: ignore[call-arg]

    def undirected(self) -> Measure:
        """Return the measure that ignores the direction of edges; one that compares no edges returns itself."""
        if self.is_custom() or all(field.name != "directed" for field in dataclasses.fields(self)):
            return self
        return dataclasses.replace(self, directed=False)  # type: ignore[call-arg]

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
