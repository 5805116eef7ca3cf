"""Scores a run in shards on any executor, and writes a results folder that doesn't depend on who computed it."""

from __future__ import annotations

import dataclasses
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problem, Problems, of_no_question
from graphkit.measures.base import Measure
from graphkit.records.commits import CommitGraph
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.unanswered import CountedAs
from graphkit.scoring.file_scoring import evaluation_of, refuse_unusable
from graphkit.scoring.known_share import GoldSeen, known_share
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results import ROWS, Evaluation, Row
from graphkit.scoring.results_folder import GROUP, ResultsWriter, cut
from graphkit.scoring.row_tables import as_table, reason_of, rows_of, unpacked_table
from graphkit.scoring.run_pass import job_options, known_from_files
from graphkit.scoring.run_shards import RunShards, Scored
from graphkit.scoring.scorer import Job
from graphkit.scoring.shard_join import Exchange, Hashes, exchange, segments
from graphkit.scoring.shard_parts import Group, Leftover, ShardPart, grouped_summaries
from graphkit.scoring.shard_scoring import Segment, ShardWork, context_name, score_shard
from graphkit.scoring.sums_on_disk import ProblemsOnDisk, UsageOnDisk, split_place
from graphkit.scoring.totals import Totals
from graphkit.shards.executors import InThisProcess
from graphkit.shards.locations import Location
from graphkit.shards.work import PICKLING, ShardTask, finished_parts, key_of, not_pickled

#: How many questions are looked at to name the id closest to an unknown one.
LOOKED_AT = 10_000


def score_shards(
    run: RunShards,
    options: EvaluationOptions,
    measures: tuple[Measure, ...],
    *,
    problems: Problems,
    progress: Progress = quiet,
    known: tuple[CommitGraph, dict[str, str]] | None = None,
    judged: Callable[[Evaluation], Evaluation] | None = None,
    detailed: tuple[Measure, ...] | None = None,
) -> Evaluation:
    """Score a run in shards, and write the parts of its results folder; :meth:`RunShards.finish` finishes it.

    Parameters
    ----------
    known
        The known commits, and the reason of each question that isn't scored; by default those of the files.
    judged
        Returns the result, which then holds all rows, with what else belongs to it: scores that others gave, clusters.
    detailed
        As in :class:`graphkit.scoring.scorer.Job`.

    Returns
    -------
    Evaluation
        Without rows if there are more than ``ROWS`` questions, and neither the plan nor ``judged`` needs them.

    Raises
    ------
    InputError
        A file can't be read, or records can't be used and ``problems`` doesn't skip them. Finished parts stay.
    """
    if not isinstance(run.plan.executor, InThisProcess) and any(
        type(measure).__module__ == "__main__" for measure in measures
    ):
        what = "other processes can't find a measure that is defined in the script itself"
        raise InputError(what, remedy="Move it into a module of its own, and import it.")
    commits, invalid = known_from_files(run.dataset, measures, problems) if known is None else known
    job = Job(
        Path(),
        run.run_file,
        measures,
        commits,
        invalid,
        keep_rows=True,
        detailed=detailed,
        **job_options(options, measures),
        spelling=run.spelling,
        wanted=frozenset(run.first.ids()),
        first=frozenset(run.first.questions()),
    )
    with held_folder() as scratch:
        return _Scoring(run, job, problems, progress, scratch).evaluation(options.failed_as, judged)


class _Scoring:
    """One evaluation in shards."""

    def __init__(self, run: RunShards, job: Job, problems: Problems, progress: Progress, scratch: Path) -> None:
        self.run = run
        self.job = job
        self.plan = run.plan
        self.problems = problems
        self.progress = progress
        self.names = [str(measure) for measure in job.measures]
        self.context = run.context(job)
        self.key = self._key()
        self.parts: list[Location] = []
        self.several: dict[tuple[int, int], int] = {}
        self.hashes = Hashes(scratch)
        self.sent = ProblemsOnDisk(scratch / "problems")
        self.totals = Totals(len(job.measures), job.invalid.values())
        self.groups: dict[Group, Totals] = {}
        self.ended: dict[str, Counter[str]] = {}
        self.usage, self.gold = UsageOnDisk(scratch), GoldSeen()
        self.runs: set[str] = set()

    # The passes ------------------------------------------------------------------------------------------------------

    def evaluation(self, failed_as: CountedAs, judged: Callable[[Evaluation], Evaluation] | None) -> Evaluation:
        """Make all parts, and then the results of them; see :func:`score_shards`."""
        work = self._first_works()
        expect(self.progress, "shards", len(work))
        self.parts = [Location("")] * len(work)
        self._make(work)
        repeated = self._repeated()
        for place, taken in sorted(repeated.items()):
            work[place] = dataclasses.replace(work[place], taken=taken)
        self._make([work[place] for place in sorted(repeated)])
        routed, unknown = self._routed()
        if routed:
            self._make([dataclasses.replace(work[place], routed=tuple(routed[place])) for place in sorted(routed)])
        self._sum_up(unknown)
        return self._merged(failed_as, judged)

    def _key(self) -> str:
        """Return the digest of everything that decides the parts."""
        from graphkit import __version__

        job = self.job
        own = [code_of(measure) for measure in job.measures if measure.is_custom()]
        only = "" if job.only is None else job.only.filter
        options = job.outcomes, job.detailed is not None, job.unordered, job.undirected, job.name, only
        # A graph may know more than the files do.
        known = sorted(map(repr, job.commits.commits.items())), sorted(job.invalid.items())
        return key_of(
            __version__,
            self.names,
            own,
            options,
            self.run.key,
            known,
            job.commits.access.principal,
            sorted(job.commits.declines.items()),
        )

    def _first_works(self) -> list[ShardWork]:
        try:
            packed = pickle.dumps(self.context)
        except PICKLING as error:
            raise not_pickled(error, "") from error
        name = context_name(packed)
        with self.plan.work.staging() as staging:
            (staging / name).write_bytes(packed)
            self.plan.work.put(staging / name, name)
        context = self.plan.work.child(name)
        return [ShardWork(context, place, tuple(answers)) for place, answers in enumerate(self.run.beside)]

    def _make(self, works: Sequence[ShardWork]) -> None:
        """Make the part of each work, in place of a former one of the same questions."""
        tasks = [
            ShardTask(
                key_of(self.key, work.place, work.answers, sorted(work.taken.items()), work.routed),
                work,
                self.run.questions[work.place].name,
            )
            for work in works
        ]
        parts = finished_parts(
            self.plan.executor, score_shard, tasks, self.plan.work, progress=self.progress, say=self.plan.say
        )
        for work, path in zip(works, parts, strict=True):
            self.parts[work.place] = self.plan.work.child(path.name)
            if not work.routed:
                self.hashes.put(work.place, ShardPart.read(path))

    def _part(self, place: int) -> ShardPart:
        with self.parts[place].local_copy() as path:
            return ShardPart.read(path)

    def _repeated(self) -> dict[int, dict[str, str]]:
        """Return for each shard the ids that an earlier one has, with their places."""
        import numpy

        of_shards: dict[int, set[int]] = {}
        for hashed, shards in self.hashes.repeated().items():
            for shard in shards:
                of_shards.setdefault(shard, set()).add(hashed)
        first: dict[str, str] = {}
        taken: dict[int, dict[str, str]] = {}
        for shard, wanted in sorted(of_shards.items()):
            part = self._part(shard)
            hashes = numpy.frombuffer(part.hashes, dtype=numpy.int64).tolist()
            lines = numpy.frombuffer(part.lines, dtype=numpy.int64).tolist()
            ids = unpacked_table(part.rows).column("id").to_pylist()
            for name, hashed, line in zip(ids, hashes, lines, strict=True):
                if hashed in wanted:
                    where = f"{self.run.questions[shard].location}:{line}"
                    if name in first:
                        taken.setdefault(shard, {})[name] = first[name]
                    else:
                        first[name] = where
        return taken

    def _routed(self) -> tuple[dict[int, list[Segment]], list[Leftover]]:
        """Route records to the shards of their questions; return what each gets, and the records of no question."""
        unknown: list[Leftover] = []
        tasks: list[ShardTask] = []
        for source, targets in self.hashes.targets():
            lost = [at for at, some in enumerate(targets) if not some]
            more = [at for at, some in enumerate(targets) if len(some) > 1]
            if lost or more:
                leftovers = self._part(source).leftovers
                unknown += [leftovers[at] for at in lost]
                self.several |= {(leftovers[at].shard, leftovers[at].line): len(targets[at]) for at in more}
            if len(lost) < len(targets):
                part = self.parts[source]
                key = key_of("exchange", part.name, targets)
                tasks.append(ShardTask(key, Exchange(part, tuple(targets)), str(part)))
        routed: dict[int, list[Segment]] = {}
        for path in finished_parts(self.plan.executor, exchange, tasks, self.plan.work, suffix=".exchange"):
            file = self.plan.work.child(path.name)
            for target, offset, length in segments(path):
                routed.setdefault(target, []).append(Segment(file, offset, length))
        return routed, unknown

    # The results -----------------------------------------------------------------------------------------------------

    def _sum_up(self, unknown: list[Leftover]) -> None:
        """Add the sums and problems of all parts, and refuse what can't be used."""
        dataset, strangers = self.run.dataset, list[Leftover]()
        for place in range(len(self.parts)):
            part = self._part(place)
            self.totals.add(part.totals.totals())
            for group, sent in part.groups:
                self.groups.setdefault(group, Totals(len(self.names))).add(sent.totals())
            for name, counts in part.ended.items():
                self.ended.setdefault(name, Counter()).update(counts)
            self.usage.add(part.figures)
            self.gold.merge(GoldSeen(set(part.gold[0]), part.gold[1]))
            self.runs |= set(part.runs)
            strangers += part.strangers
            self.sent.add(part.problems)
            part.questions.add_to(self.problems, str(dataset.questions_file))
            part.answers.add_to(self.problems, self.run.given)
        self._add_unknown(unknown, strangers)
        for problem in self.sent:
            self.problems.add(problem)
        if self.totals.questions == self.totals.missing:  # no record is usable: another attempt needs no part of these
            for one in self.parts:
                one.remove()
        questions = str(dataset.questions_file)
        count, asked = (len({one.location for one in some}) for some in (self.run.answers, self.run.questions))
        refuse_unusable(self.totals, self.runs, self.problems, self.run.given, questions, files=(count, asked))

    def _merged(self, failed_as: CountedAs, judged: Callable[[Evaluation], Evaluation] | None) -> Evaluation:
        totals, dataset, job = self.totals, self.run.dataset, self.job
        whole = judged is not None or self.plan.whole or totals.questions <= ROWS
        kept: list[Row] = []
        writer = ResultsWriter(self.run.out)
        for table in cut(unpacked_table(self._part(place).rows) for place in range(len(self.parts))):
            self._count_reasons(totals, table)
            if whole:
                kept += rows_of(table, self.names)
            if judged is None:
                writer.write(table)
        run = self.run
        result = dataclasses.replace(
            evaluation_of(job, dataset.name, totals, self.runs),
            known=known_share(
                dataset, run.run_file, run.first, self.gold, run.respelled, source=run.source, most=LOOKED_AT
            ),
            rows=tuple(kept),
            ended=self.ended,
            efficiency=self.usage.spreads(),
            groups=grouped_summaries(self.groups, self.names, totals),
            failed_as=failed_as,
        )
        if judged is not None:
            result = judged(result)
            some = (result.rows[at : at + GROUP] for at in range(0, len(result.rows), GROUP))
            for table in cut(as_table(rows, [*result.measures], job) for rows in some):
                writer.write(table)
        writer.write_problems(map(_as_json, self.sent), len(self.sent))
        self.run.scored = Scored(result, writer, self._manifest(result))
        return result

    def _count_reasons(self, totals: Totals, rows: Any) -> None:
        for index, name in enumerate(self.names):
            counts = rows.column(reason_of(name)).drop_null().value_counts()
            found = Counter({one["values"]: one["counts"] for one in counts.to_pylist()})
            totals.add_reasons(index, found)

    def _add_unknown(self, unknown: Sequence[Leftover], strangers: Sequence[Leftover]) -> None:
        """Report records of no question, also those that only share their hash with one."""
        refused = Counter((one.shard, one.line) for one in strangers)
        alone = {place for place, count in refused.items() if count == self.several.get(place, 1)}
        every = {(one.shard, one.line): one for one in strangers if (one.shard, one.line) in alone}
        lost = (*unknown, *every.values())
        names, places = {one.question for one in lost}, {str(one.location) for one in self.run.questions}
        sent = self.sent if names else ()
        faulty = {one.record for one in sent if one.record in names and split_place(one.where)[0] in places}
        self.sent.add((one.shard, of_no_question(one.where, one.question, faulty)) for one in lost)

    def _manifest(self, result: Evaluation) -> dict[str, Any]:
        from graphkit import __version__

        measures = [
            {"name": str(measure), "version": __version__, "parameters": measure.settings()}
            for measure in self.job.measures
        ]
        given = {score.measure: score.given_by for score in result.given}
        measures += [{"name": name, "given_by": given[name]} for name in result.measures if name in given]
        return {
            "graphkit": __version__,
            "run": result.run,
            "dataset": result.dataset,
            "gold_hash": result.gold_hash,
            "questions": result.questions,
            "measures": msgspec.to_builtins(measures),
        }


def _as_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as the results hold it."""
    file, line = split_place(problem.where)
    return {
        "file": file,
        "line": line,
        **{name: getattr(problem, name) for name in ("record", "what", "remedy", "more")},
    }


def code_of(measure: Measure) -> str:
    """Return a digest of the module of a user's own measure: a changed one gives other parts."""
    import inspect

    try:
        return key_of(inspect.getsource(inspect.getmodule(type(measure)) or type(measure)))
    except (OSError, TypeError):
        return ""
