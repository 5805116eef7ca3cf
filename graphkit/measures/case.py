"""One question and the answer of one run, in the form that measures read; each part is computed once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphkit.measures.lazy import filled_by, lazy
from graphkit.measures.matching import NOT_STATED, Edge, all_typed, contained
from graphkit.measures.sides import ends_of, is_bare, sides_of
from graphkit.measures.unscored import NO_RELEVANT, NO_RETRIEVAL, Unscored
from graphkit.records.commits import CommitGraph, Fit, PlacedGold, Version
from graphkit.records.doubts import BLANK_ANSWER, JUDGED_DECLINED, READ_DECLINED
from graphkit.records.gold import beyond_static
from graphkit.records.ids import Places
from graphkit.records.levels import at_level, place_at_level
from graphkit.records.structs import (
    AnswerStruct,
    ChunkStruct,
    GoldPathStruct,
    QuestionStruct,
    TraversalStepStruct,
    struct_of,
)
from graphkit.records.unanswered import MISSING, failed

if TYPE_CHECKING:
    from graphkit.records.models import Answer, Question


class Gold:
    """One gold path.

    Attributes
    ----------
    edges, optional
        The edges in order, and whether each of them is optional; so is one that ``had`` holds.
    required, needed
        The edges that aren't optional: in order, and as a set.
    has_no_optional
        Whether all edges are required.
    start
        The source of the first step that isn't optional, whatever a run has walked before; None if all are.
    ordered
        Whether a walk has to have the edges in this order.
    from_turn
        The turn of the session in which the path begins.
    followed
        The result of :func:`graphkit.measures.paths.longest_followed`, and how it compared edges.
    """

    __slots__ = (
        "_steps",
        "edges",
        "followed",
        "from_turn",
        "group",
        "has_no_optional",
        "id",
        "needed",
        "optional",
        "ordered",
        "required",
    )

    def __init__(self, path: GoldPathStruct, had: Collection[Edge] = ()) -> None:
        self.id = path.id
        self.group = path.group
        self.from_turn = path.from_turn
        self.ordered = path.ordered
        self._steps = steps = path.steps
        self.edges: list[Edge] = [(step.source, step.relation, step.target) for step in steps]
        self.optional = [step.optional for step in steps]
        if had:
            self.optional = [free or edge in had for free, edge in zip(self.optional, self.edges, strict=True)]
        self.has_no_optional = True not in self.optional
        self.required = self.edges
        if not self.has_no_optional:
            self.required = [edge for edge, optional in zip(self.edges, self.optional, strict=True) if not optional]
        self.needed = set(self.required)
        self.followed: tuple[object, int] | None = None

    @property
    def manual(self) -> list[bool]:
        """For each edge, whether a static graph needn't hold it, since its evidence isn't static."""
        return [beyond_static(step.evidence) for step in self._steps]

    @property
    def start(self) -> str | None:
        return next((step.source for step in self._steps if not step.optional), None)

    def sort_key(self) -> tuple[object, ...]:
        """Return the sort key of alternatives: the number of required edges, then the steps as texts, then the id.

        The order depends on the contents of the paths, never on their order in the file.
        """
        texts = [(source, relation or "", target) for source, relation, target in self.edges]
        free = [step.optional for step in self._steps]  # whatever a run has walked before
        needed = {edge for edge, optional in zip(self.edges, free, strict=True) if not optional}
        return len(needed), texts, free, self.manual, self.ordered, self.id or ""


class Case:
    """One question of one run.

    Parameters
    ----------
    question
        The annotation; the case holds it as a struct, like the answer.
    answer
        The run's record, or None if the run has none for this question.
    commits
        The known commits; only the measures of version coherence need them.
    unordered
        Read the traversal as a set of edges, whatever the record says.

    Attributes
    ----------
    ranks, repeats, hits, gains
        The first rank (from 1) of each retrieved id; whether the ranking repeats an id; rank and gain of each
        relevant id that was retrieved, best first; the positive gains of the question, largest first.
    found, ideal
        The rank of each retrieved id that is relevant, with the sum of the gains that it brings; and the gains of the
        best order. They are ``hits`` and ``gains``, unless an id may bring several
        (:func:`~graphkit.measures.containment.by_containment`).
    twice, bare, mixed
        Only a case with sides has some: traversed edges that don't count beside the others, the number of those that
        name no commit, and those whose ends lie on different sides.
    gold, units, gold_edges
        The gold paths that hold a step, in order; what has to be found, each unit one required path or the
        alternatives that share a group, sorted by :meth:`Gold.sort_key`; the distinct edges of all gold paths, optional
        ones included.
    walk_logged, ordered, walked_paths, walked, irregular, directionless
        Whether the record has a traversal, be it empty; whether the order of its edges counts; the retrieved paths as
        edges in the order of their positions, the distinct edges of all of them, those paths whose positions aren't
        0, 1, 2 and so on, and how many of the distinct edges were logged without a direction, which then is gold's.
    common, common_boundary
        The edges, and those between repositories, that both gold and the traversal hold.
    """

    def __init__(
        self,
        question: Question | QuestionStruct,
        answer: Answer | AnswerStruct | None,
        commits: CommitGraph | None = None,
        unordered: bool = False,
    ) -> None:
        # ``isinstance`` asks the metaclass of a struct, which takes five times as long.
        if type(type(question)) is not _STRUCT:
            question = struct_of(QuestionStruct, question)
        if answer is not None and type(type(answer)) is not _STRUCT:
            answer = struct_of(AnswerStruct, answer)
        self.question: QuestionStruct = question  # type: ignore[assignment]
        self.answer: AnswerStruct | None = answer  # type: ignore[assignment]
        self.commits = commits if commits is not None else _NO_COMMITS
        self._unordered = unordered

    twice: Collection[Edge] = frozenset()
    bare = 0
    mixed: Sequence[TraversalStepStruct] = ()

    @property
    def failure(self) -> str | None:
        """The reason why there is no answer to score: no record, or one with an error; None if there is an answer."""
        if self.answer is None:
            return MISSING
        return None if self.answer.error is None else failed(self.answer.error)

    @lazy
    def declined(self) -> bool | None:
        """Whether the record declines to answer: as it states or judges say, else by the words of its answer.

        None if it failed, or has no text of an answer and states nothing.
        """
        if self.answer is None or self.answer.error is not None:
            return None
        if self.abstained is not None or self.answer.answer is None:
            return self.abstained
        from graphkit.measures.declining import declines  # its patterns take a while to compile

        return declines(self.answer.answer)

    @lazy
    def abstained(self) -> bool | None:
        """Whether the record declines, as it states, else as judges say who agree; None if it isn't known."""
        answer = self.answer
        if answer is None or answer.abstained is not None or answer.answer is None:
            return None if answer is None else answer.abstained
        said = self.commits.declines.get((answer.run, self.question.id), ())
        if not said:
            return None
        from graphkit.records.scores import answer_hash  # pydantic takes a while to import

        verdicts = {declined for declined, text in said if text in (None, answer_hash(answer.answer))}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def decline_doubt(self) -> str | None:
        """The reason to doubt whether the record declines, one of ``OF_DECLINING``; None without one."""
        answer = self.answer
        if answer is None or self.declined is None:
            return None
        if answer.abstained is None:
            return READ_DECLINED if self.abstained is None else JUDGED_DECLINED
        blank = answer.answer is not None and not answer.answer.strip()
        return BLANK_ANSWER if blank and not answer.abstained else None

    @property
    def decline_said_by(self) -> str:
        """The source that says whether the record declines: ``record``, ``judge`` or ``words``."""
        return {READ_DECLINED: "words", JUDGED_DECLINED: "judge"}.get(self.decline_doubt or "", "record")

    @lazy
    def unanswered(self) -> Case:
        """The same question with an empty answer: nothing retrieved, traversed, called or said."""
        empty = _EMPTY if self.answer is None else replace(_EMPTY, walked_before=self.answer.walked_before)
        return Case(self.question, empty, self.commits, not self.ordered)

    @lazy
    def chunks_logged(self) -> bool:
        """Whether the record logs what was retrieved, even if that is nothing; False without a record."""
        return self.answer is not None and self.answer.retrieved is not None

    @property
    def evidence_logged(self) -> bool:
        """Whether the record logs its evidence files, by their names or by the retrieved chunks."""
        return self.chunks_logged or (self.answer is not None and self.answer.evidence_files is not None)

    @property
    def all_logged(self) -> bool:
        """Whether the record logs both the retrieved chunks and the traversal."""
        return self.chunks_logged and self.walk_logged

    # Retrieval -------------------------------------------------------------------------------------------------------

    @lazy
    def chunks(self) -> list[ChunkStruct]:
        """The retrieved chunks, best first: by rank if all have one, else as listed."""
        chunks = self.answer.retrieved if self.answer is not None else None
        if not chunks:
            return []
        if chunks[0].rank is not None:
            ranks = [chunk.rank for chunk in chunks]
            if None not in ranks and ranks != sorted(ranks):  # type: ignore[type-var]
                return sorted(chunks, key=lambda chunk: chunk.rank or 0)
        return chunks

    def read_ranking(self) -> None:
        """Compute what the ranking gives; what scores every case calls it, since that is quicker than on demand."""
        chunks = self.chunks
        # A loop costs less here than a comprehension.
        ranks: dict[str, int] = {}
        for rank, chunk in enumerate(chunks, 1):
            ranks[chunk.id] = rank
        self.repeats = len(ranks) < len(chunks)
        if self.repeats:
            ranks = {}
            for rank, chunk in enumerate(chunks, 1):
                ranks.setdefault(chunk.id, rank)
        self.ranks = ranks
        relevant = self.question.relevant
        self.gains = gains = sorted(relevant.values(), reverse=True)
        if gains and gains[-1] <= 0:
            relevant = {node: gain for node, gain in relevant.items() if gain > 0}
            self.gains = gains[: len(relevant)]
        self.found = self.hits = sorted([(ranks[node], gain) for node, gain in relevant.items() if node in ranks])
        self.ideal = self.gains
        self.unranked = None
        if not self.gains:
            self.unranked = Unscored(NO_RELEVANT, of_question=True)
        elif self.answer is None or self.answer.retrieved is None:
            self.unranked = Unscored(NO_RETRIEVAL)

    ranks: dict[str, int] = filled_by(read_ranking)
    repeats: bool = filled_by(read_ranking)
    hits: list[tuple[int, float]] = filled_by(read_ranking)
    gains: list[float] = filled_by(read_ranking)
    found: list[tuple[int, float]] = filled_by(read_ranking)
    ideal: list[float] = filled_by(read_ranking)
    unranked: Unscored | None = filled_by(read_ranking)

    def at_level(self, level: str) -> Case:
        """Return this case with what its relevant and its ranked ids are at a level, each once.

        A relevant item has the largest gain of its ids.
        """
        if level not in self.derived:
            self.derived[level] = Case(self._question_at(level), self._answer_at(level), self.commits)
        return self.derived[level]

    @lazy
    def derived(self) -> dict[str, Case]:
        """The cases that were made of this one: by the level of their ids, or by containment."""
        return {}

    def _question_at(self, level: str) -> QuestionStruct:
        relevant: dict[str, float] = {}
        for node, gain in self.question.relevant.items():
            name = at_level(node, level, self.places)
            if name is not None:
                relevant[name] = max(gain, relevant.get(name, gain))
        sets = [
            [name for node in evidence if (name := at_level(node, level, self.places)) is not None]
            for evidence in self.question.evidence_sets
        ]
        return replace(self.question, relevant=relevant, evidence_sets=[one for one in sets if one])

    @lazy
    def by_evidence_set(self) -> list[Case]:
        """This case for each evidence set, whose ids are then the relevant ones."""
        return [
            Case(replace(self.question, relevant=dict.fromkeys(evidence, 1.0)), self.answer, self.commits)
            for evidence in self.question.evidence_sets
        ]

    def _answer_at(self, level: str) -> AnswerStruct | None:
        if self.answer is None:
            return None
        own = self.answer.rankings.get(level)  # type: ignore[call-overload]
        if own is not None:
            names = [at_level(node, level, self.places) or node for node in own]
        elif self.answer.retrieved is None:
            return self.answer
        else:
            places = zip(self.chunks, self._split, strict=True)
            names = [
                name
                for chunk, (path, symbol) in places
                if (
                    name := place_at_level(
                        chunk.repo or self.places.repo(chunk.id),
                        chunk.path or path,
                        chunk.symbol or symbol,
                        level,
                    )
                )
            ]
        return replace(self.answer, retrieved=[ChunkStruct(name) for name in dict.fromkeys(names)])

    @lazy
    def ranked(self) -> list[str]:
        """The ids of the rankings that the record states for levels, each once."""
        rankings = self.answer.rankings if self.answer is not None else {}
        return [*dict.fromkeys(node for names in rankings.values() for node in names)]

    # Gold ------------------------------------------------------------------------------------------------------------

    def _read_gold(self) -> None:
        self.gold = gold = [Gold(path, self._had(path)) for path in self.question.paths if path.steps]
        if len(gold) == 1:
            self.units = [gold]
            self.gold_edges = gold[0].needed if gold[0].has_no_optional else set(gold[0].edges)
            self._gold_typed = all_typed(self.gold_edges)
            return
        units: dict[object, list[Gold]] = {}
        for number, path in enumerate(gold):
            units.setdefault(number if path.group is None else path.group, []).append(path)
        for unit in units.values():
            if len(unit) > 1:
                unit.sort(key=Gold.sort_key)
        self.units = list(units.values())
        self.gold_edges = {edge for path in gold for edge in path.edges}
        self._gold_typed = all_typed(self.gold_edges)

    gold: list[Gold] = filled_by(_read_gold)
    units: list[list[Gold]] = filled_by(_read_gold)
    gold_edges: set[Edge] = filled_by(_read_gold)
    _gold_typed: bool = filled_by(_read_gold)

    @lazy
    def about_sides(self) -> bool:
        """Whether a gold path has commits of its own; :func:`graphkit.measures.sided_case.sided` compares it then."""
        return any(path.commits and path.steps for path in self.question.paths)

    @lazy
    def walked_before(self) -> dict[Edge, int] | None:
        """The edges that earlier turns of the session walked, each with the last turn that did; None if unknown."""
        if self.answer is None or self.answer.walked_before is None:
            return None
        gold = [(step.source, step.relation, step.target) for path in self.question.paths for step in path.steps]
        steps = sorted(aligned(self.answer.walked_before, gold), key=attrgetter("path"))
        return {(step.source, step.relation, step.target): step.path for step in steps}

    def _had(self, path: GoldPathStruct) -> Collection[Edge]:
        """Return the edges of a gold path that the run has walked since the turn in which it begins."""
        if path.from_turn is None or not self.walked_before:
            return ()
        since = [edge for edge, turn in self.walked_before.items() if turn >= path.from_turn]
        return contained([(step.source, step.relation, step.target) for step in path.steps], since, True)

    def path_name(self, path: Gold) -> str:
        """Return the name of a gold path: its id, else its place among the paths that hold a step."""
        return path.id if path.id is not None else str(self.gold.index(path))

    @lazy
    def absent(self) -> frozenset[Edge] | None:
        """The gold edges that no knowledge graph of the question holds; None if that isn't known."""
        return None if self.absent_gold is None else frozenset(edge for _, edge in self.absent_gold)

    @lazy
    def absent_gold(self) -> frozenset[PlacedGold] | None:
        """The same edges with the place of the path among those that hold a step, whose commits decide it."""
        return self.commits.absent(self.question)

    # Traversal -------------------------------------------------------------------------------------------------------

    def read_traversal(self) -> None:
        """Compute what the traversal gives, as :meth:`read_ranking` does with the ranking."""
        logged = self.answer.traversal if self.answer is not None else None
        self.walk_logged = logged is not None
        self.ordered = not self._unordered and (self.answer is None or self.answer.ordered)
        steps = list(logged or ())
        numbers = [step.path for step in steps]
        if numbers != sorted(numbers):
            steps.sort(key=lambda step: step.path)
            numbers.sort()
        positions = [step.position for step in steps]
        self._spans = spans = []
        self.irregular = []
        start, total = 0, len(steps)
        while start < total:
            end = bisect_right(numbers, numbers[start], start)
            if positions[start:end] != _COUNTING[: end - start]:
                steps[start:end] = walk = _by_position(steps[start:end])
                self.irregular.append(walk)
            spans.append((start, end))
            start = end
        self.directionless = 0
        if not all(map(_is_directed, steps)):
            self.directionless = len({frozenset((one.source, one.target)) for one in steps if not one.directed})
            steps = aligned(steps, self.gold_edges)
        self._steps = steps
        edges: list[Edge] = [(step.source, step.relation, step.target) for step in steps]
        self.walked = set(edges)
        self._walked_typed = all_typed(self.walked)
        self.walked_paths = [edges[start:end] for start, end in spans]

    @lazy
    def walks(self) -> list[list[TraversalStepStruct]]:
        """The retrieved paths, each a list of steps in the order of their positions."""
        return [self._steps[start:end] for start, end in self._spans]

    walk_logged: bool = filled_by(read_traversal)
    ordered: bool = filled_by(read_traversal)
    walked_paths: list[list[Edge]] = filled_by(read_traversal)
    walked: set[Edge] = filled_by(read_traversal)
    _walked_typed: bool = filled_by(read_traversal)
    irregular: list[list[TraversalStepStruct]] = filled_by(read_traversal)
    directionless: int = filled_by(read_traversal)
    _steps: list[TraversalStepStruct] = filled_by(read_traversal)
    _spans: list[tuple[int, int]] = filled_by(read_traversal)

    @lazy
    def untyped(self) -> bool:
        """Whether an edge of gold or of the traversal has no relation, so that sets of edges can't be compared."""
        return not (self._gold_typed and self._walked_typed)

    @property
    def without_relation(self) -> tuple[int, int]:
        """The number of distinct traversed edges, and of those without a relation; both 0 if gold names no relation."""
        if not (self._gold_typed or any(relation for _, relation, _ in self.gold_edges)) or not self.gold_edges:
            return 0, 0
        bare = 0 if self._walked_typed else sum(relation is None for _, relation, _ in self.walked)
        return len(self.walked), bare

    @lazy
    def strict(self) -> Case:
        """This case as strict comparison reads it: an edge without a relation matches no gold edge that has one.

        Nor does an edge that doesn't show its version match one of a gold path with commits of its own.
        """
        answer = self.answer
        for name in ("traversal", "walked_before"):
            if answer is not None and (walk := getattr(answer, name)) is not None:
                stated = [one if one.relation else replace(one, relation=NOT_STATED) for one in walk]
                answer = replace(answer, **{name: stated})
        if answer is not None and answer.traversal and self.about_sides:
            sides = sides_of(self.question, self.pins, self.sha)
            stated = [
                replace(one, source_commit=NOT_STATED) if is_bare(ends_of(one, self.places, self.sha), sides) else one
                for one in answer.traversal
            ]
            answer = replace(answer, traversal=stated)
        return Case(self.question, answer, self.commits, self._unordered)

    # Gold and traversal ----------------------------------------------------------------------------------------------

    @lazy
    def plain(self) -> bool:
        """Whether gold is one path of required steps and every edge has a relation, as in most questions.

        Then all gold edges are required, and edges match only if they are equal.
        """
        return len(self.gold) == 1 and self.gold[0].has_no_optional and not self.untyped

    @lazy
    def common(self) -> set[Edge]:
        """The traversed gold edges, with equal relations."""
        return self.gold_edges & self.walked

    @lazy
    def gold_boundary(self) -> set[Edge]:
        """The gold edges whose ends lie in different repositories."""
        return set(self.places.boundary(self.gold_edges))

    @lazy
    def reached(self) -> set[str]:
        """The nodes that the traversal came to: both ends of each of its edges."""
        return {node for source, _, target in self.walked for node in (source, target)}

    @lazy
    def off(self) -> set[Edge]:
        """The traversed edges that match no gold edge; an edge without a relation matches one with any."""
        return self.walked - contained(self.walked, self.gold_edges, self.untyped)

    @lazy
    def invented(self) -> set[Edge]:
        """The traversed edges that the question lists as absent; an edge without a relation is one with any."""
        return contained(self.walked, [(one.source, one.relation, one.target) for one in self.question.absent], True)

    @lazy
    def made_up(self) -> set[Edge] | None:
        """The traversed edges that neither gold nor the knowledge graph holds, and the question doesn't list as absent.

        The graph is that of the question's stack, else all of the dataset; None if the edges of one aren't known.
        """
        edges, stack = self.commits.edges, self.question.stack
        graphs = [edges[stack]] if stack is not None and stack in edges else [*edges.values()]
        known = [graph for graph in graphs if graph is not None]
        if not known or len(known) < len(graphs):
            return None
        steps = (self.answer.traversal if self.answer is not None else None) or ()
        turned = {(one.source, one.relation, one.target) for one in steps if not one.directed}
        turned |= {(target, relation, source) for source, relation, target in turned}
        gold = contained(self.walked, [edge for path in self.gold for edge in path.edges], True)
        return {
            (source, relation, target)
            for source, relation, target in self.walked - gold - self.invented
            if not any(graph.holds(source, relation, target) for graph in known)
            if (source, relation, target) not in turned or not any(one.holds(target, relation, source) for one in known)
        }

    @lazy
    def common_boundary(self) -> set[Edge]:
        """The common edges whose ends lie in different repositories."""
        return self.gold_boundary & self.common

    @lazy
    def walked_boundary(self) -> list[Edge]:
        """The traversed edges whose ends lie in different repositories, each once."""
        return [*self.common_boundary, *self.places.boundary(self.walked - self.common)]

    @property
    def misplaced(self) -> list[tuple[int, str]]:
        """Each path whose positions have a gap or a repeat, with a sentence about it; empty for a set of edges."""
        if not self.ordered:
            return []
        found = []
        for walk in self.irregular:
            positions = [step.position for step in walk if step.position is not None]
            if len(set(positions)) < len(positions):
                found.append((walk[0].path, "a position repeats"))
            elif positions and positions[-1] - positions[0] + 1 != len(positions):
                found.append((walk[0].path, "the positions have a gap"))
        return found

    # Ids -------------------------------------------------------------------------------------------------------------

    @lazy
    def places(self) -> Places:
        """The places of nodes. The files of the dataset, else those that the question expects, split ids."""
        places, own = self.commits.places, self.question.expected_files
        # A dataset names the files of its questions too.
        return places if places.given or not own else places.with_files(lambda bare: map(bare.listed_file, own))

    @lazy
    def _split(self) -> list[tuple[str | None, str | None]]:
        """The path and the symbol of each chunk's id."""
        return [self.places.split(chunk.id) for chunk in self.chunks]

    def source_of(self, chunk: ChunkStruct) -> str:
        """Return the source of a chunk as ``repo/path``, or the chunk's id if it names no path."""
        repo, path = chunk.repo or self.places.repo(chunk.id), chunk.path or self.places.path(chunk.id)
        if path is None:
            return chunk.id
        return f"{repo}/{path}" if repo is not None else path

    # Versions and names ----------------------------------------------------------------------------------------------

    def version(self, chunk: ChunkStruct) -> Version:
        """Return the version of a chunk, by the commit that it names or else by that of its artifact in the dataset."""
        repo, sha = chunk.repo or self.places.repo(chunk.id), chunk.commit or None
        if sha is None:
            repo, sha = self.commits.commit_of(chunk.id, self.question.stack) or (repo, None)
        elif (repo, sha) not in self.commits.commits:
            sha = self.sha(repo, sha)
        return Version(repo, sha, chunk.branch or None)

    def sha(self, repo: str | None, name: str) -> str:
        """Return the sha that the name of a commit means."""
        if repo is None or (repo, name) in self.commits.commits:
            return name
        return self.commits.meant(repo, name, self.pins).sha

    @lazy
    def chunk_versions(self) -> list[Version]:
        """The version of each retrieved chunk, in order of rank."""
        return [self.version(chunk) for chunk in self.chunks]

    @lazy
    def versions(self) -> list[Version]:
        """The version of each distinct retrieved chunk, in order of rank."""
        if not self.repeats:
            return self.chunk_versions
        seen: set[str] = set()
        versions = []
        for chunk, version in zip(self.chunks, self.chunk_versions, strict=True):
            if chunk.id not in seen:
                seen.add(chunk.id)
                versions.append(version)
        return versions

    @lazy
    def without_commit(self) -> tuple[int, int]:
        """The number of distinct chunks without a commit, and how many of them inherit that of their artifact."""
        if all(map(_commit_of, self.chunks)):
            return 0, 0
        named = {chunk.id: chunk.commit for chunk in reversed(self.chunks)}
        lacking = sum(not commit for commit in named.values())
        return lacking, lacking - sum(version.sha is None for version in self.versions)

    @lazy
    def touched(self) -> set[tuple[str, str]]:
        """The known (repository, sha) of the retrieved chunks and of both ends of the traversed edges."""
        found = {(one.repo, one.sha) for one in self.versions if one.repo and one.sha}
        for walk in self.walks:
            for step in walk:
                for end, name in ((step.source, step.source_commit), (step.target, step.target_commit)):
                    if name and (repo := self.places.repo(end)):
                        found.add((repo, self.sha(repo, name)))
        return found

    @lazy
    def read_at(self) -> dict[str, list[str]]:
        """The commits at which the traversal and the chunks read each node, in order of occurrence."""
        found: dict[str, list[str]] = {}

        def note(node: str, name: str) -> None:
            shas, sha = found.setdefault(node, []), self.sha(self.places.repo(node), name)
            if sha not in shas:
                shas.append(sha)

        for walk in self.walks:
            for step in walk:
                if step.source_commit:
                    note(step.source, step.source_commit)
                if step.target_commit:
                    note(step.target, step.target_commit)
        for chunk, version in zip(self.chunks, self.chunk_versions, strict=True):
            if version.sha:
                note(chunk.id, version.sha)
        return found

    @lazy
    def own_pins(self) -> dict[str, str]:
        """The commit of each repository that the question itself pins."""
        return self.commits.own_pins(self.question)

    @lazy
    def pins(self) -> dict[str, str]:
        """The commit of each repository at which the question was annotated: its own, else that of its stack."""
        return self.commits.pins(self.question)

    @lazy
    def pinned(self) -> set[tuple[str, str]]:
        """The (repository, sha) that the question is about: its pins, or those of each side."""
        return {*self.pins.items()}

    @lazy
    def off_pin(self) -> set[tuple[str, str]]:
        """The known (repository, sha) that were read though the question is about others; empty without a pin."""
        return self.touched - self.pinned if self.pinned else set()

    def fit(self, first: Version, second: Version) -> Fit | None:
        """Return whether the versions of two chunks fit; None if they needn't."""
        return self.commits.verdict(first, second, self.own_pins)

    def belong_together(self, commits: set[tuple[str, str]]) -> bool:
        """Return whether these (repository, sha) lie in one set, or are pins of the question that don't clash."""
        if self.commits.fits_one_set(commits):
            return True
        return commits <= self.own_pins.items() and not self.commits.clash(commits)

    def pin_of(self, node: str) -> str | None:
        """Return the commit at which a node is to be read; None without a pin of its repository."""
        return self.pins.get(self.places.repo(node) or "")

    def rank_of(self, node: str) -> int | None:
        """Return the rank at which a node of gold or traversal was retrieved; None if it wasn't."""
        return self.ranks.get(node)

    def plain_id(self, node: str) -> str:
        """Return the id of a node of gold or traversal, without its side."""
        return node

    @lazy
    def repositories(self) -> set[str]:
        """The retrieved repositories: of the chunks and of the ends of the traversed edges."""
        found = {chunk.repo for chunk in self.chunks if chunk.repo}
        found |= self.places.named(chunk.id for chunk in self.chunks if not chunk.repo)
        return found | self.places.named(node for edge in self.walked for node in (edge[0], edge[2]))

    @lazy
    def files(self) -> set[str]:
        """The evidence files as ``repo/path``: those the run names, else those of its retrieved chunks."""
        if self.answer is not None and self.answer.evidence_files is not None:
            return {self.places.file(name) for name in self.answer.evidence_files}
        found = set()
        for chunk, (own, _) in zip(self.chunks, self._split, strict=True):
            repo, path = chunk.repo or self.places.repo(chunk.id), chunk.path or own
            if path is not None:
                found.add(f"{repo}/{path}" if repo is not None else path)
        return found

    @lazy
    def expected_files(self) -> set[str]:
        """The question's expected files as ``repo/path``."""
        return {self.places.file(name) for name in self.question.expected_files}

    @lazy
    def relevant_repositories(self) -> set[str]:
        """The repositories of the question's relevant ids."""
        return self.places.named(node for node, gain in self.question.relevant.items() if gain > 0)

    @lazy
    def symbols(self) -> set[str]:
        """The symbols of the retrieved chunks."""
        places = zip(self.chunks, self._split, strict=True)
        return {symbol for chunk, (_, own) in places if (symbol := chunk.symbol or own)}


_STRUCT: object = type(QuestionStruct)
_NO_COMMITS = CommitGraph()
_EMPTY = AnswerStruct(
    run="none", question_id="none", retrieved=[], traversal=[], answer="", evidence_files=[], tool_calls=[], seeds=[]
)
_commit_of = attrgetter("commit")
_is_directed = attrgetter("directed")

#: The positions of a regular path. Longer paths are examined step by step.
_COUNTING = list(range(1000))


def aligned(
    steps: Iterable[TraversalStepStruct], gold: Iterable[Edge], every: bool = False
) -> list[TraversalStepStruct]:
    """Return steps in the direction in which gold has them, and as they are where it has both directions or neither.

    Only a step whose log has lost its direction is turned, unless ``every`` one may be.
    """
    ends = {(source, target) for source, _, target in gold}
    return [
        replace(
            step,
            source=step.target,
            target=step.source,
            source_commit=step.target_commit,
            target_commit=step.source_commit,
        )
        if (every or not step.directed)
        and (step.target, step.source) in ends
        and (step.source, step.target) not in ends
        else step
        for step in steps
    ]


def _by_position(walk: list[TraversalStepStruct]) -> list[TraversalStepStruct]:
    """Return steps sorted by their positions; if that changes the order, steps without a position come first."""
    positions = [step.position for step in walk if step.position is not None]
    if positions != sorted(positions):
        walk.sort(key=lambda step: -1 if step.position is None else step.position)
    return walk
