"""All measures by name, and the parser of their text form."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from graphkit.errors import MeasureError, did_you_mean
from graphkit.measures import (
    answer_matching,
    budgets,
    coherence,
    completeness,
    edges,
    files,
    integration,
    judged,
    paths,
    ranking,
    repositories,
    seeds,
    seen,
    tools,
)
from graphkit.measures.base import DEFAULT_K, CutMeasure, Measure
from graphkit.measures.own import GROUP, checked, checked_name, import_kind, load_installed, loaded_kind
from graphkit.records.plugins import installed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind", bound=Measure)

#: All built-in measures in the order of display; those from a judge or a person come last.
MEASURES: tuple[type[Measure], ...] = (
    *(edges.EdgeRecall, edges.EdgePrecision, edges.EdgeF1, edges.BoundaryRecall, edges.BoundaryPrecision),
    *(paths.PathExact, paths.PathInOrder, paths.PathPrefix),
    *(repositories.CrossRepoPrecision, repositories.CrossRepoRecall),
    *(coherence.Coherence, coherence.Incoherent, coherence.OffPin),
    *(integration.Integration, completeness.Completeness, completeness.ConflictResolution),
    *(ranking.Success, ranking.Acc, ranking.Recall, ranking.P, ranking.Rprec, ranking.RR, ranking.AP, ranking.nDCG),
    *(ranking.RetrievedF1, ranking.RetrievedPrecision, ranking.RetrievedRecall),
    *(ranking.AnswerContainment, ranking.EvidenceRecall),
    *(answer_matching.AnswerHit, answer_matching.AnswerF1),
    *(files.FilePrecision, files.FileRecall, files.SymbolRecall),
    *(seeds.SeedRecall, seeds.SeedPrecision, seeds.SeedReciprocalRank),
    *(tools.ToolRecall, tools.ToolPrecision, tools.ToolExact, tools.ToolInOrder, tools.ArgumentMatch),
    *(seen.StepsToGold, seen.Redundancy, seen.UsedShare),
    *(budgets.Hops, budgets.VisitedNodes, budgets.RepeatedEdges, budgets.StoppingDepth),
    *(budgets.Latency, budgets.Cost, budgets.PromptTokens, budgets.OutputTokens, budgets.ModelCalls),
    *(judged.FactualCorrectness, judged.Groundedness, judged.HallucinationRate),
    *(judged.Attribution, judged.CitationRecall, judged.CitationPrecision),
    *(judged.RubricGrade, judged.Correct, judged.Faithful, judged.Relevant, judged.Complete),
    *(judged.Faithfulness, judged.AnswerRelevance, judged.ContextPrecision, judged.ContextRecall, judged.ScaleGrade),
    *(judged.ClaimPrecision, judged.ClaimRecall, judged.ClaimF1, judged.ContextUtilization, judged.NoiseSensitivity),
    *(judged.Fabrication, judged.SelfKnowledge, judged.ChunkPrecision),
    *(judged.ContextRelevance, judged.EdgeRelevance, judged.FactsInContext, judged.PathEfficiency),
    *(judged.TrajectoryAccuracy, judged.CriteriaScore, judged.CriteriaMet, judged.Declined),
    *(judged.AggregationCompleteness, judged.AggregationAccuracy, judged.AggregationScore),
    *(judged.JudgedIntegration, judged.JudgedCompleteness, judged.JudgedConflictResolution),
    judged.PersonGrade,
)

#: The default measures of every evaluation: they include each computed measure that the default weights weigh.
DEFAULT_MEASURES = (
    *("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "BoundaryPrecision"),
    *("PathExact", "PathInOrder", "PathPrefix", "CrossRepoPrecision", "CrossRepoRecall", "Coherence"),
    *("Integration", "Completeness"),
    *("nDCG@10", "Recall@20", "RR", "Success@5", "P@5", "AnswerContainment@5"),
    *("FilePrecision", "FileRecall", "SymbolRecall"),
)

#: The last sentence of the remedy if someone asks for a computed value of a judged measure.
_GIVEN = (
    'Pass the file that it writes beside the run, or lines {"run", "question", "measure", "value"} of your own, to '
    "`graphkit evaluate RUN.jsonl --scores FILE`, or to `graphkit load-scores FILE` for comparisons."
)

#: The classes that a text may name: built-in, registered, and named by the user before.
_BY_NAME = {name.casefold(): kind for kind in MEASURES for name in (kind.__name__, *kind.aliases)}
#: A measure as harnesses name it: `retrieval-hit-at-k`, `recall_at_5`, `precision@k`.
_HARNESS = re.compile(r"(?:retrieval[-_ ])?(?P<name>[a-z]\w*?(?:[-_ ]\w+?)*?)(?:(?:[-_ ]at[-_ ]|@)(?P<k>k|\d+))?", re.I)
_TEXT = re.compile(r"\s*(?P<name>\w+|[\w.]+:[\w.<>]+)\s*(?:\((?P<args>.*)\))?\s*(?:@\s*(?P<k>-?\d{1,9}))?\s*\Z", re.S)


def register(kind: type[Kind]) -> type[Kind]:
    """Register a measure by its class name and aliases in this process; also usable as a decorator.

    A command imports what ``--measure my_module:MyMeasure`` or an entry point of the group ``graphkit.measures`` names.

    Raises
    ------
    MeasureError
        The class is no measure, or another measure has the name.
    """
    where = f"{kind.__module__}:{kind.__qualname__}" if isinstance(kind, type) else repr(kind)
    checked(kind, where)
    _enter(kind, (checked_name(kind.__name__, where), *kind.aliases), where)
    kind.name = kind.__name__
    return kind


def _enter(kind: type[Measure], names: Iterable[str], where: str) -> None:
    """Register names for a class, replacing an earlier definition of it."""
    folded = [checked_name(name, where).casefold() for name in names]
    for name in folded:
        taken = _BY_NAME.get(name)
        if taken is not None and not _same(taken, kind):
            owner = f"{taken.__module__}:{taken.__qualname__}" if taken.is_custom() else "graphkit's own"
            raise MeasureError(
                f"the name {name!r} is taken by the measure {taken.name} ({owner})",
                where=where,
                remedy="Choose another name or alias.",
            )
    for name in [name for name, other in _BY_NAME.items() if _same(other, kind)]:
        del _BY_NAME[name]
    _BY_NAME.update(dict.fromkeys(folded, kind))


def _same(first: type[Measure], second: type[Measure]) -> bool:
    """Return whether two classes are the same, perhaps redefined as in a notebook."""
    return (first.__module__, first.__qualname__) == (second.__module__, second.__qualname__)


def measure_kinds() -> tuple[list[type[Measure]], list[MeasureError]]:
    """Return all measure classes, of graphkit and of other packages, and the errors of the latter."""
    wrong = []
    for name, point in installed(GROUP).items():
        try:
            _by_entry_point(name, point)
        except MeasureError as error:
            wrong.append(error)
    return list(dict.fromkeys((*MEASURES, *_BY_NAME.values()))), wrong


def _by_entry_point(name: str, point: EntryPoint) -> type[Measure]:
    kind = load_installed(point)
    if _BY_NAME.get(name) is not kind:
        _enter(kind, (kind.name, *kind.aliases), f"{point.name} = {point.value}")
    return kind


def _known(name: str) -> type[Measure] | None:
    """Return the class of a name: a known one, or one that an installed package provides."""
    if ":" in name:
        return loaded_kind(name) or _BY_NAME.get(name)
    folded = name.casefold()
    if folded not in _BY_NAME and folded in installed(GROUP):
        return _by_entry_point(folded, installed(GROUP)[folded])
    return _BY_NAME.get(folded)


def parse_measure(text: str) -> Measure:
    """Return the measure that a text names; a user's, ``my_module:MyMeasure``, is imported.

    >>> str(parse_measure("ndcg@10")), str(parse_measure("hit@5"))
    ('nDCG@10', 'Success@5')
    >>> str(parse_measure("traversal_accuracy(relation=False)"))
    'EdgeRecall(relation=False)'
    >>> str(parse_measure("retrieval-hit-at-5")), str(parse_measure("precision@k"))
    ('Success@5', 'P')

    Raises
    ------
    MeasureError
        The name or a parameter is unknown (the closest name is suggested), a value doesn't fit, or a user's measure
        can't be imported.
    """
    match = _TEXT.match(_as_harnesses_name(text))
    kind = None
    if match is not None:
        name = match["name"]
        # A class inside a function can't be imported: it is known once its value was used.
        kind = import_kind(name) if ":" in name and name not in _BY_NAME else _known(name)
    if match is None or kind is None:
        name = match["name"] if match else text
        hint = did_you_mean(name.casefold(), _BY_NAME, show=lambda known: _BY_NAME[known].__name__)
        raise MeasureError(f"no measure is called {text!r}", remedy=f"{hint}`graphkit measures` lists them all.")
    arguments = _arguments(text, match["args"] or "")
    if match["k"] is not None:
        arguments["k"] = int(match["k"])
    return _build(text, kind, arguments)


def _as_harnesses_name(text: str) -> str:
    """Return the text of a measure that harnesses name in their way; any other text as it is."""
    found = _HARNESS.fullmatch(text.strip())
    name = re.sub(r"[- ]", "_", found["name"]).casefold() if found else ""
    if found is None or name not in _BY_NAME or text.casefold() in _BY_NAME:
        return text
    return name if found["k"] is None or found["k"].casefold() == "k" else f"{name}@{found['k']}"


def measure_class(text: str) -> type[Measure] | None:
    """Return the class of the measure that a text from data names, whatever its parameters; None for any other text.

    A score by another tool may carry any text; its measure is then unknown, which isn't an error. Data causes no
    import: a user's measure is known once the user has named it.
    """
    match = _TEXT.match(text)
    try:
        return _known(match["name"]) if match else None
    except MeasureError:  # an installed package registers something else
        return None


def known_measure(text: str) -> Measure | None:
    """Return the measure that a text from data names, or None for any other text."""
    try:
        return parse_measure(text) if measure_class(text) is not None else None
    except MeasureError:
        return None


def computed_as(measure: str, k: int | None) -> str | None:
    """Return the measure that a question with its own cut-off was scored by; None if it is the measure itself.

    >>> computed_as("Recall@5", 1), computed_as("Recall@5", 5), computed_as("EdgeRecall", 1)
    ('Recall@1', None, None)
    """
    known = known_measure(measure) if k else None
    if not isinstance(known, CutMeasure) or k == (known.k or DEFAULT_K):
        return None
    return str(dataclasses.replace(known, k=k))


def lower_is_better(measure: str) -> bool:
    """Return whether lower values of a measure are better; for an unknown measure, higher ones are.

    >>> lower_is_better("OffPin"), lower_is_better("a score of another tool")
    (True, False)
    """
    kind = measure_class(measure)
    return kind is not None and not kind.higher_is_better


def bounds_of(measure: str) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value of a measure; None if unbounded or unknown.

    >>> bounds_of("EdgeRecall"), bounds_of("a score of another tool")
    ((0.0, 1.0), (None, None))
    """
    kind = measure_class(measure)
    return (kind.lowest, kind.highest) if kind is not None else (None, None)


def worst_of(measure: str) -> float | None:
    """Return the worst value of a measure; None if it is unbounded there or unknown.

    >>> worst_of("EdgeRecall"), worst_of("HallucinationRate"), worst_of("StepsToGold")
    (0.0, 1.0, None)
    """
    lowest, highest = bounds_of(measure)
    return highest if lower_is_better(measure) else lowest


def target_of(measure: str) -> float | None:
    """Return the value that is on target if it is better; None without a target, or for an unknown measure.

    >>> target_of("EdgeRecall"), target_of("Success@5")
    (0.8, None)
    """
    known = known_measure(measure)
    return known.thresholds().target if known is not None else None


def compares_relations(measure: str) -> bool:
    """Return whether a measure compares the relations of traversed edges with those of gold.

    >>> compares_relations("EdgeRecall"), compares_relations("EdgeRecall(relation=False)"), compares_relations("RR")
    (True, False, False)
    """
    found = known_measure(measure)
    return found is not None and found.compares_relations


def is_judged(measure: str) -> bool:
    """Return whether a judge or a person gives a measure; an unknown text belongs to another tool.

    >>> is_judged("Groundedness"), is_judged("EdgeRecall"), is_judged("tone")
    (True, False, False)
    """
    kind = measure_class(measure)
    return kind is not None and not kind.computed


def require_computed(measures: Iterable[Measure]) -> None:
    """Raise a MeasureError if a judge or a person gives one of some measures; its remedy says how to get the value."""
    given = [measure for measure in measures if not measure.computed]
    if given:
        who = " or ".join(dict.fromkeys(f"a {one}" for measure in given for one in measure.engines()))
        what = f"isn't computed from records: {who} gives it"
        if len(given) > 1:
            what = f"aren't computed from records: {who} gives them"
        graders = dict.fromkeys(one.grader for one in given if isinstance(one, judged.JudgedMeasure) and one.grader)
        by_default = {*judged.JudgedMeasure.asked_by_default}
        asked = "" if by_default.issuperset(graders) else "".join(f" -g {one}" for one in graders)
        how = f"Run `graphkit grade RUN.jsonl{asked}` to have a judge give {'it' if len(given) == 1 else 'them'}."
        if all(isinstance(one, judged.PersonGrade) for one in given):
            how = "Grade the answers in the page of `graphkit view RUN.jsonl`."
        raise MeasureError(f"{', '.join(map(str, given))} {what}", remedy=f"{how} {_GIVEN}")


def _arguments(text: str, source: str) -> dict[str, object]:
    try:
        call = ast.parse(f"f({source})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError):
        raise MeasureError(
            f"the parameters of {text!r} can't be read",
            remedy="Write them as name=value, for example EdgeRecall(relation=False) or nDCG@10.",
        ) from None


def _build(text: str, kind: type[Measure], arguments: dict[str, object]) -> Measure:
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    for name, value in arguments.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise MeasureError(f"{kind.__name__} has no parameter {name!r}", where=text, remedy=f"It has: {known}.")
        default = fields[name].default
        if name == "k":
            if type(value) is not int or value < 1:
                raise MeasureError("k must be a whole number of at least 1", where=text)
        elif type(value) is int and type(default) is float:
            arguments[name] = float(value)
        elif type(value) is not type(default) and default is not None and default is not dataclasses.MISSING:
            raise MeasureError(f"{name} must be a {type(default).__name__}, not {value!r}", where=text)
    missing = [name for name, field in fields.items() if name not in arguments and _is_required(field)]
    if missing:
        remedy = f"Write {kind.name}({', '.join(f'{name}=...' for name in missing)})."
        raise MeasureError(f"{kind.__name__} needs a value for {', '.join(missing)}", where=text, remedy=remedy)
    try:
        measure = kind(**arguments)
        hash(measure)
    except ValueError as error:
        raise MeasureError(str(error), where=text) from None
    except Exception as error:
        if not kind.is_custom():
            raise
        raise MeasureError(f"the measure can't be made: {type(error).__name__}: {error}", where=text) from None
    return _remembered(measure)


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _remembered(measure: Measure) -> Measure:
    """Remember the class of a measure, so that its text is understood in data as well."""
    kind = type(measure)
    if ":" in kind.name:
        _BY_NAME[kind.name] = checked(kind, kind.name)
    return measure


def resolve_measures(measures: Iterable[str | Measure] = (), *, k: int | None = None) -> tuple[Measure, ...]:
    """Return measures by name or value, each once, in order; by default the default measures.

    A measure without its cut-off gets ``k``, else 5, so that its name says what was computed.
    """
    found: dict[Measure, None] = {}
    for asked in tuple(measures) or DEFAULT_MEASURES:
        if not isinstance(asked, str | Measure):
            remedy = "Give a name such as EdgeRecall, or a value such as EdgeRecall(), not its class."
            raise MeasureError(f"{asked!r} is no measure", remedy=remedy)
        measure = parse_measure(asked) if isinstance(asked, str) else _remembered(asked)
        if getattr(measure, "k", 0) is None:
            measure = dataclasses.replace(measure, k=k or DEFAULT_K)  # type: ignore[call-arg]
        found[measure] = None
    return tuple(found)
