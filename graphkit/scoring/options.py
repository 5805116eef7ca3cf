"""The options of an evaluation, shared by the library, its plans and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from graphkit.errors import InputError, did_you_mean
from graphkit.files.problems import OnError
from graphkit.measures.base import Measure
from graphkit.records.option_values import By
from graphkit.records.unanswered import CountedAs
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.question_clusters import ClusterBy
from graphkit.scoring.results import LABELS

Engine = Literal["python", "cypher"]

#: What some options may be, for callers of the library; the command line reads them by the same types.
_KINDS = {"engine": Engine, "on_error": OnError, "failed_as": CountedAs, "cluster": ClusterBy, "by": By}


def check_choices(options: Mapping[str, Any]) -> None:
    """Raise an InputError if one of some options by name has a value that it can't have, such as ``by="hop"``."""
    for name, kind in _KINDS.items():
        value, known = options.get(name), get_args(kind)
        if value is not None and value not in known:
            remedy = f"{did_you_mean(str(value), known)}It is one of: {', '.join(known)}."
            raise InputError(f"{name} can't be {value!r}", remedy=remedy)


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """The options of :func:`graphkit.evaluate`.

    Attributes
    ----------
    measures
        Names or values. By default those of ``graphkit.measures.registry.DEFAULT_MEASURES`` and, if the run logs its
        tool calls or its questions are decided by gold answers, those of
        :attr:`graphkit.scoring.run_pass.RunPass.further_measures`.
    only_given
        Compute no measure: only scores that others gave are wanted.
    k
        The cut-off of measures that name none; 5 by default.
    engine
        ``"cypher"`` lets the database compute every measure that it can; it needs a store.
    on_error
        ``"skip"`` ignores records that can't be used; ``"fail"`` refuses their file.
    strict
        Refuse fields that graphkit doesn't know. Otherwise the warnings of the result name them.
    keep_rows
        Keep the value of each question, not only the means. Kept values also go into the store.
    outcomes
        Also say for each kept question whether answer and path are right, and at which stage it ended.
    unordered
        Treat each traversal as a set of edges, as a record with ``"ordered": false`` does. Measures that compare the
        order have no value then.
    undirected
        Also keep for each question which edges were walked in neither direction. The measures say themselves whether
        they compare edges without direction.
    name
        The name of the run, whatever its records say.
    replace
        Replace a run of this name that the store holds from another file. Without it, such a run is refused; the same
        file or the same content is no other run. Records in memory replace each other with a warning.
    origin
        The path or text that a temporary run log was made from; by default the log itself.
    failed_as
        How gates, targets and thresholds count questions that failed or have no record: each as the worst value of its
        measure, or not at all (``"unscored"``). With ``"zero"``, every question without a value counts as 0, whatever
        the reason, if 0 is the worst value of the measure. :attr:`Summary.mean` always covers the scored questions.
    cluster
        Give the means intervals over clusters of questions, which alone count as independent: those that share a
        repository (``"repo"``), a set of repositories (``"repo-set"``), a session, a category or a group.
    by
        Also group the questions by what their gold has in the graph (:func:`graphkit.scoring.slices.slices_of`), such
        as ``"hops"``. Groups by category, difficulty or group need no option.
    keep
        Store only some questions of the run, such as ``"failures"``, ``"sample=1000"`` or
        ``"EdgeRecall < 0.5 and category == 'imports'"``, or several of these; see :mod:`graphkit.scoring.selection`.
        Means and gates still cover the whole run. A run that the store holds whole, with the same content, stays whole.
    where
        Score only the questions that a filter picks by what is known before they are scored, such as
        ``"split == 'dev' and hops > 2"`` (:mod:`graphkit.scoring.chosen_questions`). It goes without a store.
    hash_gold
        Compute the hash of the gold, which takes a tenth of the time. A result with rows always has it.
    """

    measures: Sequence[str | Measure] = ()
    only_given: bool = False
    k: int | None = None
    engine: Engine = "python"
    on_error: OnError = "fail"
    strict: bool = False
    keep_rows: bool = True
    outcomes: bool = False
    unordered: bool = False
    undirected: bool = False
    name: str | None = None
    replace: bool = False
    origin: str | Path | None = None
    failed_as: CountedAs = "worst"
    cluster: ClusterBy | None = None
    by: By | None = None
    keep: str | Sequence[str] = ()
    where: str | ChosenQuestions | None = None
    hash_gold: bool = True

    def __post_init__(self) -> None:
        check_choices({name: getattr(self, name) for name in _KINDS})

    @property
    def slices(self) -> By | None:
        """The kind of slice, if gold decides the slices; None if the labels of questions do."""
        return None if self.by in LABELS else self.by

    @property
    def source(self) -> str | None:
        """The origin as the graph notes it: the absolute path of a file, or the text."""
        return str(self.origin.resolve()) if isinstance(self.origin, Path) else self.origin
