"""Evaluations of several runs as ``graphkit evaluate`` makes them: which measures, gates and warnings apply."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.analysis.board import without_input
from graphkit.analysis.config import Config
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.layers import Scorecard, score_layers
from graphkit.analysis.mending import MendingPlace, to_mend
from graphkit.analysis.repetitions import Repetitions, repetitions
from graphkit.analysis.run_gates import RunGates, figure_named
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource, answering_model
from graphkit.measures.base import Measure
from graphkit.measures.registry import known_measure, measure_class, parse_measure, resolve_measures
from graphkit.records.option_values import By, FigureName, PercentileName, measures_of, percentile_in
from graphkit.records.plugins import installed, load
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.scores import Score
from graphkit.records.words import counted
from graphkit.scoring.evaluate import evaluate_pass
from graphkit.scoring.export import gates_of
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.repeated_systems import Passing, RepeatedSystem, repeated_systems
from graphkit.scoring.results import ROWS, Evaluation
from graphkit.scoring.run_pass import RunPass

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.scoring.run_shards import RunShards, ShardPlan
    from graphkit.scoring.selection import Selection

UNDIRECTED = "edges are compared without their direction: paths aren't judged right or wrong, failures ignore direction"

UNTYPED = "edges are compared without their relations, by measures that are named so"


@dataclass(frozen=True)
class EvaluationPlan:
    """The options and gates of an evaluation of runs.

    Attributes
    ----------
    options
        As in :func:`graphkit.evaluate`. Without measures, these are the defaults, those of the layers and those of
        :attr:`graphkit.scoring.run_pass.RunPass.further_measures`; each run then has a scorecard. Rows are kept if
        anything here needs them; several runs are compared, so they always have rows and the hash of their gold.
    scores
        Scores that others gave. A gate may name their measures. A judge of the family of the answering model becomes a
        warning.
    score_files
        The files of these scores; the verdicts beside them may name the answering model.
    answered_by
        The model that answered, if `graphkit run` noted none.
    undirected, untyped
        Whether to compare edges without their direction, and without their relations.
    gates
        With measures as the user writes them.
    """

    options: EvaluationOptions = field(default_factory=lambda: EvaluationOptions(keep_rows=False))
    config: Config = field(default_factory=Config)
    gates: RunGates = field(default_factory=RunGates)
    scores: Sequence[Score] = ()
    score_files: Sequence[Path] = ()
    answered_by: str | None = None
    undirected: bool = False
    untyped: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown measures and gates at once, before anything is read or started."""
        _ = self.measures, self._kappa_gate
        self.gates.refuse(self.gated)

    @property
    def by(self) -> By | None:
        """The field or slice of questions by which means are grouped; None if they aren't."""
        return self.options.by

    @property
    def facts(self) -> dict[str, str]:
        """The configuration, the filter and the grouping of the results, as properties of JUnit suites."""
        where = {"where": str(self.options.where)} if self.options.where else {}
        return {"config": self.config.digest} | where | ({"by": self.by} if self.by else {})

    @property
    def layered(self) -> bool:
        """Whether runs get scorecards."""
        return not self.options.measures

    @cached_property
    def gated(self) -> dict[str, str]:
        """The measures, percentiles and figures of the gates: the text of the user, and the name in the results."""
        given = {score.measure for score in self.scores}

        def named(text: str) -> str:
            return text if text in given else str(self._resolved([text])[0])

        found: dict[str, str] = {}
        for text in self.gates.texts:
            if text not in given and (figure := figure_named(text)) is not None:
                found[text] = FigureName.of(figure.name, tuple(named(one) for one in figure.measures))
                continue
            of = None if text in given or measure_class(text) is not None else percentile_in(text)
            found[text] = named(text) if of is None else PercentileName.of(named(of[0]), of[1])
        return found

    @property
    def passing(self) -> Passing:
        """The value at which a trial passes, by measure: the stated one, else the target."""
        at = {self.gated[text]: value for text, value in self.gates.pass_at}
        return Passing(at, lambda measure: self.layers.thresholds(measure).target)

    @cached_property
    def _kappa_gate(self) -> Callable[..., list[GateOutcome]] | None:
        """The gate on judges' kappa, which a plug-in adds; None if nobody asks for it."""
        if self.gates.min_kappa is None:
            return None
        point = installed("graphkit.gates")["min-kappa"]
        gate: Callable[..., list[GateOutcome]] = load(point, InputError, "--min-kappa")
        return gate

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures to compute, before those that apply to a run by what it logs and its questions hold.

        Raises
        ------
        InputError
            A measure is unknown.
        """
        given = {score.measure for score in self.scores}
        known = {str(one): known_measure(str(one)) for one in self.options.measures}
        # One that is computed and given as well stays: it is refused.
        asked = [one for one, of in known.items() if str(of or one) not in given or (of is not None and of.computed)]
        chosen = self._resolved(asked or ([] if self.options.measures else self.config.default_measures()))
        named = [
            *chain.from_iterable(map(measures_of, self.gated.values())),
            *(self.selection.measures if self.options.keep else ()),
        ]
        return tuple(dict.fromkeys([*chosen, *self._resolved([one for one in named if one not in given])]))

    @cached_property
    def selection(self) -> Selection:
        """The rule by which questions are stored; an empty one if all are."""
        from graphkit.scoring.selection import Selection

        return Selection.parse(self.options.keep)

    def _kept(self) -> list[str]:
        """Return the texts of the rule with the names of measures in the results."""
        if not self.options.keep:
            return []
        given = {score.measure for score in self.scores}
        named = self.selection.named(lambda name: name if name in given else str(self._resolved([name])[0]))
        return named.texts

    @property
    def layers(self) -> Config:
        """The weights and thresholds, with measures as edges are compared."""
        if not (self.undirected or self.untyped):
            return self.config
        return self.config.renamed(lambda name: str(self._compared(parse_measure(name))))

    def _resolved(self, names: Sequence[str | Measure]) -> list[Measure]:
        found = resolve_measures(names, k=self.options.k or self.config.k) if names else ()
        return [self._compared(one) for one in found]

    def _compared(self, measure: Measure) -> Measure:
        """Return a measure that compares edges as the plan says."""
        measure = measure.undirected() if self.undirected else measure
        return measure.untyped() if self.untyped else measure

    def evaluate(
        self,
        runs: Sequence[RunSource],
        dataset: Path | None = None,
        *,
        shards: ShardPlan | None = None,
        store: Store | None = None,
        progress: Progress = quiet,
        notify: Callable[[str], None] = lambda _: None,
        on_problems: Callable[[Problems], None] = lambda _: None,
    ) -> EvaluatedRuns:
        """Evaluate runs.

        Parameters
        ----------
        shards
            Scores each run in shards, and writes its results folder: one of its name within the folder if there are
            several runs.
        notify
            Called with each note before the results are there.
        on_problems
            Called with the problems of each run's files.

        Raises
        ------
        InputError
            A file can't be used, or two files contain a run of one name.
        """
        with ExitStack() as stack:
            passes = [stack.enter_context(self._opened(one, dataset, shards, len(runs) > 1)) for one in runs]
            results = self._scored(runs, passes, store, progress, notify, on_problems)
            cards = [score_layers(result, self.layers) for result in results] if self.layered else []
            systems = [] if self.gates.per_repetition else repeated_systems(results)
            hidden = without_input(results, passes[0].dataset) if self.layered else frozenset()
            evaluated = EvaluatedRuns(self, tuple(results), tuple(cards), systems=tuple(systems), hidden=hidden)
            outcomes = self._outcomes(runs, evaluated.held, cards, systems)
            if (chosen := results[0].chosen) is not None:
                outcomes = [dataclasses.replace(one, what=f"{one.what}; {chosen}") for one in outcomes]
            for run, result in zip(passes, results, strict=True):
                if not isinstance(run, RunPass):
                    run.finish([gate.as_json() for gate in gates_of(result, results, outcomes)])
        return dataclasses.replace(evaluated, gates=tuple(outcomes))

    def _opened(
        self, run: RunSource, dataset: Path | None, shards: ShardPlan | None, several: bool
    ) -> AbstractContextManager[RunPass | RunShards]:
        if shards is None:
            return nullcontext(RunPass(Dataset.of_run(run.run, dataset), run.run, run))
        from graphkit.scoring.run_shards import opened_shards

        whole = several or shards.whole or self._by_question
        place = run.run if run.run == run.file else shards.published(run.run)
        return opened_shards(place, dataset, dataclasses.replace(shards, whole=whole), within=several, source=run)

    @property
    def _by_question(self) -> bool:
        """Whether a gate holds the values of questions."""
        others = any(isinstance(name, PercentileName | FigureName) for name in self.gated.values())
        return bool(others or self.gates.each or self.gates.pass_at or self.gates.pass_k is not None)

    def _scored(
        self,
        runs: Sequence[RunSource],
        passes: Sequence[RunPass | RunShards],
        store: Store | None,
        progress: Progress,
        notify: Callable[[str], None],
        on_problems: Callable[[Problems], None],
    ) -> list[Evaluation]:
        repeated = bool(repetitions_by_name(run.name for run in passes if run.name is not None))
        needed = (
            self.options.keep_rows
            or self.gates.sure
            or self._by_question
            or self.layered
            or self.by
            or self.scores
            or store is not None
            or repeated
            or len(runs) > 1
        )
        options = dataclasses.replace(
            self._options(passes, notify), keep_rows=bool(needed), hash_gold=self.options.hash_gold or len(runs) > 1
        )
        options = dataclasses.replace(options, only_given=not options.measures)
        if len(runs) > 1:
            refuse_one_name((one.file, run.name) for one, run in zip(runs, passes, strict=True))
        results = []
        expect(progress, "runs scored", len(passes))
        for one, run in zip(runs, passes, strict=True):
            problems = Problems(options.on_error, strict=options.strict)
            few = not isinstance(run, RunPass) or not run.has_more_than(ROWS)
            own = dataclasses.replace(options, origin=one.origin, keep_rows=options.keep_rows or few)
            result = evaluate_pass(run, own, store=store, scores=self.scores, problems=problems, progress=progress)
            on_problems(problems)
            if self.scores:
                warnings = self._graders_warned_of(one.run, result)
                result = dataclasses.replace(result, warnings=(*result.warnings, *warnings))
            results.append(result)
            progress("runs scored", 1)
        refuse_one_name((one.file, result.run) for one, result in zip(runs, results, strict=True))  # names in pipes
        return results

    def _graders_warned_of(self, run_file: Path, result: Evaluation) -> Iterator[str]:
        """Yield the warnings about who gave the scores of a run; what lies beside them may name who answered."""
        from graphkit.graph.beside import beside_scores, kinds_beside

        known = answering_model(run_file, self.answered_by)
        for name, kind in kinds_beside().items():
            records = () if known is not None else beside_scores(name, self.score_files, result.run)
            yield from kind.warnings(result.given, records, known)

    def _options(self, runs: Sequence[RunPass | RunShards], notify: Callable[[str], None]) -> EvaluationOptions:
        """Return the options by which runs are scored, and notify what is special about them."""
        return dataclasses.replace(
            self.options,
            measures=self._chosen(runs, notify),
            outcomes=(self.layered or bool(self.options.keep and self.selection.by_outcome)) and not self.undirected,
            undirected=self.layered and self.undirected,
            keep=self._kept(),
        )

    def _chosen(self, runs: Sequence[RunPass | RunShards], notify: Callable[[str], None]) -> tuple[Measure, ...]:
        """Return the measures with those that apply to the runs, and notify what is special about them."""
        chosen = self.measures
        if self.undirected:
            notify(f"note: {UNDIRECTED}")
        if self.untyped:
            notify(f"note: {UNTYPED}")
        if self.layered:
            further = [name for run in runs for name in run.further_measures]
            chosen = tuple(dict.fromkeys([*chosen, *(resolve_measures(further) if further else ())]))
        if self.options.engine == "cypher" and (others := [str(each) for each in chosen if each.query is None]):
            notify(f"note: computed in Python, because they have no Cypher query: {', '.join(others)}")
        return chosen

    def _outcomes(
        self,
        runs: Sequence[RunSource],
        results: Sequence[Evaluation],
        cards: Sequence[Scorecard],
        systems: Sequence[RepeatedSystem] = (),
    ) -> list[GateOutcome]:
        gates, gated = self.gates, self.gated
        named = [*map(str, self.measures), *(one.measure for one in self.scores)] if self.options.measures else []
        bounded = [*dict.fromkeys(chain.from_iterable(map(measures_of, gated.values())))]
        measures = [*dict.fromkeys([*named, *bounded])] or None
        outcomes = dataclasses.replace(gates.named(gated), measures=measures, passing=self.passing).outcomes(
            results, [self._card(one, cards) for one in results] if gates.severe else cards, systems
        )
        if self._kappa_gate is None:
            return outcomes
        judged = {score.measure for score in self.scores if score.judged}
        checked = [name for name in bounded if name in judged]
        repeated = {one.name: [some.run for some in one.repetitions] for one in systems}
        names = [run for result in results for run in repeated.get(result.run, [result.run])]
        return outcomes + self._kappa_gate((one.file for one in runs), names, self.scores, gates.min_kappa, checked)

    def _card(self, result: Evaluation, cards: Sequence[Scorecard]) -> Scorecard:
        """Return the scorecard of a result, if there is none yet a new one."""
        return next((one for one in cards if one.run == result.run), None) or score_layers(result, self.layers)


@dataclass(frozen=True)
class EvaluatedRuns:
    """The results of runs, their scorecards (none unless the plan is ``layered``), and the outcomes of their gates.

    The gates hold for the ``systems`` that several runs repeat, and for the other runs. People aren't shown the
    measures that are ``hidden``, since the data has nothing for them.
    """

    plan: EvaluationPlan
    results: tuple[Evaluation, ...]
    cards: tuple[Scorecard, ...] = ()
    gates: tuple[GateOutcome, ...] = ()
    systems: tuple[RepeatedSystem, ...] = ()
    hidden: frozenset[str] = frozenset()

    @cached_property
    def mending(self) -> tuple[MendingPlace, ...]:
        """The places to mend first; none if paths aren't judged, or for so many questions that there are no rows."""
        return to_mend(self.results)

    @property
    def held(self) -> list[Evaluation]:
        """The results that gates hold: one for each repeated system, in the place of its first repetition."""
        system_of = {some.run: one for one in self.systems for some in one.repetitions}
        found: dict[str, Evaluation] = {}
        for result in self.results:
            system = system_of.get(result.run)
            one = result if system is None else system.result
            found.setdefault(one.run, one)
        return [*found.values()]

    @cached_property
    def repetitions(self) -> list[Repetitions]:
        """The figures of each system that several of the runs repeat."""
        return repetitions(self.results, self.plan.passing)

    def messages(self, imported: bool = False, *, brief: bool = False) -> list[str]:
        """Return what a reader of the results should know.

        ``imported`` drops what the import of a log reported, and ``brief`` how much is known where that is enough.
        """
        found = []
        others = sorted({score.run for score in self.plan.scores} - {result.run for result in self.results})
        if others:
            found.append(f"note: the scores of other runs aren't used: {', '.join(others[:5])}")
        for result in self.results:
            if result.chosen is not None:
                found.append(f"note: {result.run}: {result.chosen}; nothing is stored in the graph")
            if result.known is not None and not imported:
                if not brief or result.known.meaning is not None:
                    found.append(f"known: {result.run}: {result.known.line}")
                if result.known.meaning is not None:
                    found.append(f"warning: {result.run}: {result.known.meaning}")
            if borrowed := result.borrowed_commits():
                found.append(f"note: {result.run}: {borrowed}")
            found += [f"warning: {result.run}: {warning}" for warning in result.warnings]
            if result.kept is not None:
                kept = f"{result.kept.questions} of {counted(result.questions, 'question')} ({result.kept.rule})"
                found.append(f"note: {result.run}: the graph stores {kept}; the figures here cover all")
        if len({result.gold_hash for result in self.results}) > 1:
            gold = ", ".join(f"{result.run} by {result.gold_hash} of {result.dataset}" for result in self.results)
            found.append(f"note: the runs are scored by different gold, so their means can't be compared: {gold}")
        return found

    def as_json(self) -> list[dict[str, Any]]:
        """Return the objects that ``graphkit evaluate --json`` prints."""
        found = []
        for number, result in enumerate(self.results):
            one = result.as_json() | {"gates": [gate.as_json() for gate in gates_of(result, self.results, self.gates)]}
            if self.plan.by:
                one["groups"] = result.groups_as_json()
            if self.cards:
                one |= {"scorecard": self.cards[number].as_json(), **result.outcomes_as_json()}
            if repeated := [each.as_json() for each in self.repetitions if result.run in each.runs]:
                one["repetitions"] = repeated
            found.append(one)
        return found


def refuse_one_name(named: Iterable[tuple[Path, str | None]]) -> None:
    """Refuse two files with a run of one name: it would be unclear which of them a result is of."""
    files: dict[str, Path] = {}
    for file, name in named:
        if name is None:
            continue
        first = files.setdefault(name, file)
        if first.resolve() != file.resolve():
            raise InputError(
                f"two files hold a run {name!r}: {first} and {file}",
                remedy="Evaluate one of them by another name: `graphkit evaluate FILE --run NAME`.",
            )
