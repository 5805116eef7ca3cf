"""The cause of a failure: why a run lacks the first required edge of a gold path, in one sentence, and what to do.

The page, ``graphkit why``, comments on pull requests, tests, notebooks and agents say what stands here. A sentence has
no subject, so that it reads behind the names of one run or of several. Text of the log and the dataset stands between
backticks, on one line, and holds none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from graphkit.analysis.breaks import Break, breaks_of
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import Edge, contained, walked_otherwise
from graphkit.measures.missed import counted_paths
from graphkit.measures.paths import followed
from graphkit.measures.seeds import unlinked
from graphkit.measures.sided_case import SidedCase, sided
from graphkit.records.commits import is_whole
from graphkit.records.ids import distinct_names
from graphkit.records.words import counted, in_backticks, short_shas, shortened

#: The causes in their order: the first that applies, and that the data can show, is named.
CauseKind = Literal[
    "failed",
    "stale gold",
    "not logged",
    "no answer",
    "query",
    "not in the graph",
    "not linked",
    "another version",
    "not retrieved",
    "not walked",
    "another edge",
    "declined",
    "unknown",
]
CAUSES: tuple[CauseKind, ...] = get_args(CauseKind)

#: Characters of a name.
ROOM = 80

ALTHOUGH = ", though its result is that of gold"

#: Why the walk of a question can't be judged, and what is said of an answer that is right or wrong.
NO_PATH = "can't be judged by the walk: the question has no gold path"
NO_STEP = "had nothing to walk: no step is required"
RIGHTLY_DECLINED = "declined, as the question has no answer"
NO_ANSWER_TO_GIVE = "answered, though the question has no answer"
RIGHT_ANSWER = "right answer"
WRONG_ANSWER = "wrong answer"

#: How the sentence on a run begins that walked nothing.
NO_EDGE = "walked no edge; "


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a run lacks a required gold edge, has all of another version, or isn't scored.

    Attributes
    ----------
    sentence
        Where it broke and why, without a subject and a full stop. Names stand between backticks.
    remedy
        What to do about it, in one or two sentences.
    edge, path, step
        The first missed required edge of a path that counts, with the places of the path among the question's and of
        the step in the path, from 0; None if the question isn't scored, or the walk is whole.
    place
        How the sentence calls that step.
    """

    kind: CauseKind
    sentence: str
    remedy: str
    edge: Edge | None = None
    path: int | None = None
    step: int | None = None
    place: str = ""


def causes_of(case: Case, invalid: str | None = None, room: int = ROOM, undirected: bool = False) -> tuple[Cause, ...]:
    """Return the cause for each gold path that counts and broke, in their order; one if the question isn't scored.

    A whole walk has one if it read a repository of its path at other commits alone than the question is about, or if
    the record declines. A question without an answer has one if the record answers.

    Parameters
    ----------
    invalid
        The reason why the gold is stale, if it is.
    room
        The most characters of a name.
    undirected
        Say nothing that needs directions.
    """
    if (unscored := _unscored(case, invalid)) is not None:
        return (unscored,)
    if case.question.answerable is False:
        return () if case.declined is not False else (_answered(case, room),)
    case = sided(case)
    breaks = breaks_of(case)
    query = _query(case, room, whole=not breaks)
    if not breaks:
        other = query or _elsewhere(case, room, undirected) or _declined(case, undirected)
        return () if other is None else (other,)
    edges = [*(edge for gold in case.gold for edge in gold.edges), *case.walked]
    nodes = [*(node for edge in edges for node in (edge[0], edge[2])), *case.ranks]
    names = {node: case.places.names(node) for node in nodes}
    causes = [_Words(case, one.undirected() if undirected else one, room, names).cause() for one in breaks]
    if query is not None and query.remedy:
        causes[0] = replace(causes[0], kind="query", sentence=query.sentence, remedy=query.remedy)
    return tuple(causes)


def questions_by_cause(runs: Sequence[Sequence[str]]) -> dict[CauseKind, int]:
    """Return how many questions have a cause in some run, for each cause that occurs: the most frequent first.

    Parameters
    ----------
    runs
        For each run the kind of the first cause of each question, in the same order; an empty text for none.
    """
    questions = [set(kinds) for kinds in zip(*runs, strict=True)]
    counts = {kind: sum(kind in kinds for kinds in questions) for kind in CAUSES}
    return {kind: counts[kind] for kind in sorted(CAUSES, key=lambda kind: -counts[kind]) if counts[kind]}


def whole_walk(case: Case, undirected: bool = False, named: bool = False) -> str:
    """Return what a run did that lacks no required edge of the paths that count, or why nothing can be said of it.

    Edges count once, as EdgeRecall counts them. The sentence has no subject.

    Parameters
    ----------
    undirected
        Leave out the order of the walk.
    named
        Name the path if only one of several counts; else the sentence has no text of the dataset.
    """
    if case.question.answerable is False and case.declined is not None:
        edges = f"; it walked {counted(len(case.walked), 'edge')} before" if case.declined and case.walked else ""
        return f"{RIGHTLY_DECLINED}{edges}" if case.declined else NO_ANSWER_TO_GIVE
    case = sided(case)
    paths = [path for path in counted_paths(case, boundaries=False) if path.required]
    if not paths:
        return NO_STEP if case.gold else NO_PATH
    count = len({edge for path in paths for edge in path.required})
    every = {1: "the required step", 2: "both required steps"}.get(count, f"all {count} required steps")
    if named and len(paths) == 1 < len(case.gold):
        every += f" of {path_in_words(case, paths[0].gold, ROOM)}"
    turned = 0 if undirected else sum(not in_order(case, path.gold) for path in paths)
    if not turned:
        return f"walked {every}"
    if len(paths) == 1:
        return f"walked {every}, but no retrieved path has {'it' if count == 1 else 'them in this order'}"
    kept = len(paths) - turned
    number = "none" if not kept else f"only {kept}"
    return f"walked {every}, but {number} of {len(paths)} gold paths {'was' if kept < 2 else 'were'} walked in order"


def path_in_words(case: Case, gold: Gold, room: int) -> str:
    """Return how a sentence calls a gold path: by its id, else by its number among the question's, from 1."""
    return f"path {case.gold.index(gold) + 1}" if gold.id is None else f"path {in_backticks(gold.id, room)}"


def in_order(case: Case, gold: Gold) -> bool:
    """Return whether one retrieved path has the required steps in order. A set of edges has no order."""
    if not (case.ordered and gold.ordered):
        return True
    required = gold.required
    return any(followed(required, walk)[0] == len(required) for walk in case.walked_paths)


def _unscored(case: Case, invalid: str | None) -> Cause | None:
    if case.answer is None:
        return Cause("failed", "gave no answer: the run has no record of the question", "Run the question again.")
    if case.answer.error is not None:
        what = "gave no answer: the record holds an error"
        return Cause("failed", what, "Look at the error, and run the question again.")
    if invalid is not None:
        remedy = "Correct the gold: `graphkit check` names what the knowledge graph lacks."
        return Cause("stale gold", "got no score: the gold is stale", remedy)
    if not case.walk_logged and any(gold.required for gold in case.gold):
        compared = case.answer.compared_result
        if compared is not None and compared.reason:
            what = f"wrote a query whose walk isn't known: {in_backticks(compared.reason, 2 * ROOM)}"
            return Cause("not logged", what, "Read the query: graphkit can't tell which edges its patterns match.")
        what = "logged no traversal: which steps it took isn't known"
        return Cause("not logged", what, "Log the edges that the system walks.")
    return None


def _query(case: Case, room: int, whole: bool) -> Cause | None:
    """Return the cause of a wrong result, or walk; it has no remedy where only the walk says more."""
    compared = case.answer.compared_result if case.answer is not None else None
    if compared is None or compared.executable is None or (compared.same and (whole or not compared.cause)):
        return None
    if not compared.executable:
        what = f"{NO_EDGE}its query did not run: {in_backticks(compared.reason or '', 2 * room)}"
        return Cause("query", what, "Look at the prompt that has the query written: it must be valid, and only read.")
    if compared.cause:
        remedy = "Look at what the prompt says of the graph: the query is wrong there."
        though = ALTHOUGH if compared.same else ""
        return Cause("query", f"wrote a wrong query{though}: {shortened(short_shas(compared.cause), 3 * room)}", remedy)
    if compared.same is None:
        return None
    return Cause("query", f"{whole_walk(case, named=True)}, but the result of its query is not that of gold", "")


def _answered(case: Case, room: int) -> Cause:
    """Return the cause of an answer to a question that has none."""
    reason = case.question.why_not
    remedy = "Have the system decline where what it found holds no answer."
    if case.invented:
        source, relation, target = min(case.invented, key=lambda edge: (edge[0], edge[1] or "", edge[2]))
        shown = in_backticks(f"{source} -{relation or ''}-> {target}", 3 * room + 5)
        why = "took the false premise" if reason == "false premise" else NO_ANSWER_TO_GIVE
        sentence = f"{why}: walked {shown}, which the question lists as absent"
        return Cause("no answer", sentence, f"{remedy} The edge doesn't exist: look for what made it up.")
    if case.all_logged and not case.ranks and not case.walked:
        return Cause("no answer", "answered, though nothing was retrieved", remedy)
    if reason == "false premise":
        return Cause("no answer", f"took the false premise: {NO_ANSWER_TO_GIVE}", remedy)
    return Cause("no answer", NO_ANSWER_TO_GIVE + (f" ({reason})" if reason else ""), remedy)


def _declined(case: Case, undirected: bool) -> Cause | None:
    """Return the cause of a record that declines, and lacks no required edge."""
    if not case.declined:
        return None
    walked = any(gold.required for gold in case.gold)
    how = f"declined, though the path was walked: {whole_walk(case, undirected, named=True)}" if walked else "declined"
    return Cause("declined", how, "Look at why the system declines: it had what the answer needs." if walked else "")


def _elsewhere(case: Case, room: int, undirected: bool) -> Cause | None:
    """Return the cause of a whole walk that read repositories of its paths at other commits alone than the pinned."""
    if not case.pinned:
        return None
    paths = counted_paths(case, boundaries=False)
    nodes: dict[tuple[str, str | None], list[str]] = {}
    for node in dict.fromkeys(node for path in paths for edge in path.gold.required for node in (edge[0], edge[2])):
        if (repo := case.places.repo(node)) is not None:
            nodes.setdefault((repo, case.pin_of(node)), []).append(node)
    found = [(repo, *one) for (repo, _), some in nodes.items() if (one := _other_version(case, repo, some)) is not None]
    if not found:
        return None
    repos, read, wanted = ([in_backticks(one, room) for one in column] for column in zip(*found, strict=True))
    at = [f"{repo} at {name}" for repo, name in zip(repos, read, strict=True)]
    why = f"read {' and '.join(at)}; the question is about {' and '.join(wanted)}"
    right = [f"{repo} read at {name}" for repo, name in zip(repos, wanted, strict=True)]
    sentence = f"{whole_walk(case, undirected, named=True)}; {why}"
    return Cause("another version", sentence, f"Have {' and '.join(right)} for this question.")


def _other_version(case: Case, repo: str, nodes: Sequence[str]) -> tuple[str, str] | None:
    """Return at which commit nodes of a repository were read, and at which they were to be read.

    None if one was read at the latter, or if a name means no known commit, which decides nothing without sides. Nodes
    that weren't read themselves were read with their repository: at its commits, if all of them are others.
    """
    pin = case.pin_of(nodes[0])
    if pin is None:
        return None
    read = [sha for node in nodes for sha in case.read_at.get(node, ())]
    if not read:
        read = [sha for other, shas in case.read_at.items() if case.places.repo(other) == repo for sha in shas]
    if not read or pin in read:
        return None
    # On sides a name that means no known commit is another version already.
    if not isinstance(case, SidedCase) and not all(_known(case, repo, sha) for sha in (pin, *read)):
        return None
    other, wanted = _version_name(case, repo, read[0]), _version_name(case, repo, pin)
    if other == wanted:
        return f"{other} {read[0][:12]}", f"{wanted} {pin[:12]}"
    return other, wanted


def _known(case: Case, repo: str, sha: str) -> bool:
    return is_whole(sha) or (repo, sha) in case.commits.commits


def _version_name(case: Case, repo: str, sha: str) -> str:
    """Return the tag of a commit, else its branch, else its sha."""
    known = case.commits.commits.get((repo, sha))
    name = next(iter(known.all_tags), None) or known.branch if known is not None else None
    return name or short_shas(sha)


class _Words:
    """The words about one break; ``names`` are those of the nodes of gold and of what was read."""

    def __init__(self, case: Case, broken: Break, room: int, names: Mapping[str, Sequence[str]]) -> None:
        self._case, self._broken, self._room = case, broken, room
        self._gold = case.gold[broken.path]
        self._edge = self._gold.edges[broken.step]
        self._steps = broken.ordered  # without an order nothing breaks, and no walk leaves or joins
        self._unlinked = unlinked(case, self._gold, self._edge[0])
        others = [] if self._unlinked is None else [self._unlinked.start, *self._unlinked.shown]
        self._names = distinct_names({**names, **{node: case.places.names(node) for node in others}})

    def cause(self) -> Cause:
        """Return the first cause that the data can show."""
        kind, why, remedy = (
            self._absent()
            or self._not_linked()
            or self._version()
            or self._otherwise()
            or self._unretrieved()
            or self._unwalked()
            or self._turned()
            or self._unknown()
        )
        broken, how = self._broken, self._how()
        verb, place = ("broke at", f"step {broken.step + 1}") if self._steps else ("misses", self._whole_edge())
        if len(self._case.gold) > 1:
            place += f" of {path_in_words(self._case, self._gold, self._room)}"
        told = f"; {how}" if how and kind not in ("another edge", "unknown", "query") else ""
        nothing = "" if self._case.walked else NO_EDGE
        sentence = f"{nothing}{verb} {place}: {why}{told}"
        remedies = " ".join(filter(None, (remedy, self._no_walk())))
        return Cause(kind, sentence, remedies, self._edge, broken.path, broken.step, place)

    def _absent(self) -> tuple[CauseKind, str, str] | None:
        if not self._case.absent or self._edge not in self._case.absent:
            return None
        return "not in the graph", "it is not in the knowledge graph", ""

    def _not_linked(self) -> tuple[CauseKind, str, str] | None:
        """Return whether the question was linked to other nodes than those at which the path begins."""
        if self._unlinked is None:
            return None
        start, seeds = self._name(self._unlinked.start), [*map(self._name, self._unlinked.shown)]
        remedy = self._do(f"link the question to {start}")
        if self._unlinked.namesakes:
            why = f"linked the question to {seeds[0]}, a namesake of {start}"
            return "not linked", why, f"{remedy} Tell namesakes apart by their repository and path."
        if not seeds:
            return "not linked", f"linked the question to nothing; the path begins at {start}", remedy
        others = len(self._unlinked.seeds) - len(seeds)
        more = f" and {counted(others, 'other')}" if others else ""
        return "not linked", f"linked the question to {', '.join(seeds)}{more}, not to {start}", remedy

    def _version(self) -> tuple[CauseKind, str, str] | None:
        """Return whether an end of the step was read at other commits alone than the question is about."""
        case = self._case
        for node in (self._edge[0], self._edge[2]):
            repo = case.places.repo(node)
            found = _other_version(case, repo, (node,)) if repo is not None else None
            if repo is not None and found is not None:
                named, other, wanted = map(self._text, (repo, *found))
                why = f"read {named} at {other}; the question is about {wanted}"
                return "another version", why, f"Have {named} read at {wanted} for this question."
        return None

    def _otherwise(self) -> tuple[CauseKind, str, str] | None:
        edges, relation = self._edges(self._edge), self._relation(self._edge)
        if self._broken.kind == "reversed":
            remedy = f"Look at the direction of {edges}, in the graph that was walked and in the log."
            return "another edge", "walked it in the other direction", remedy
        if self._broken.kind == "relation":
            _, shown = walked_otherwise(self._edge, self._case.off)
            walked = ", ".join(sorted(one[1] or "" for one in shown))
            instead = f"walked it as {self._text(walked)}, not as {relation}"
            return "another edge", instead, f"Look at the relation: gold has {relation} there."
        return None

    def _unretrieved(self) -> tuple[CauseKind, str, str] | None:
        """Return the end of the step that was neither retrieved nor walked to, the first of both."""
        if not self._case.chunks_logged:
            return None
        for node in (self._edge[0], self._edge[2]):
            if self._case.rank_of(node) is None and node not in self._case.reached:
                name = self._name(node)
                return "not retrieved", f"did not retrieve {name}", self._do(f"retrieve {name}, or walk to it")
        return None

    def _unwalked(self) -> tuple[CauseKind, str, str] | None:
        if not self._case.chunks_logged:
            return None
        source, target = self._name(self._edge[0]), self._name(self._edge[2])
        rank = self._case.rank_of(self._edge[2])
        came = f"retrieved {target} (#{rank})" if rank is not None else f"came to {target}"
        walk = f"walk to it from {source}" if source != target else "walk from it to itself"
        back = "" if source != target else " to itself"
        return (
            "not walked",
            f"{came}, but did not {walk}",
            self._do(f"follow {self._edges(self._edge)} from {source}{back}"),
        )

    def _turned(self) -> tuple[CauseKind, str, str] | None:
        if self._broken.turn is None or not self._steps:
            return None
        source = self._name(self._edge[0])
        why = f"left {source}{self._by(self._broken.turn)}, and not{self._by(self._edge)}"
        do = f"follow {self._edges(self._edge)} from {source} to {self._end(self._edge)}"
        return "another edge", why, self._do(do)

    def _unknown(self) -> tuple[CauseKind, str, str]:
        how = self._how()
        compared = self._case.answer.compared_result if self._case.answer is not None else None
        if compared is not None:
            though = ALTHOUGH if compared.same else ""
            return "query", f"the query does not match it{though}", "Compare the query with that of gold."
        why = "why is not known, since the record logs no retrieved chunks"
        return "unknown", f"{how}; {why}" if how else why, "Log the retrieved chunks: they tell more of the cause."

    def _how(self) -> str:
        """Return what the walk did there; nothing if it just lacks the step."""
        case, broken, source = self._case, self._broken, self._name(self._edge[0])
        if not self._steps and broken.kind not in ("never", "beside"):
            return ""
        if broken.turn is not None and broken.kind == "turned":
            return f"the walk left {source}{self._by(broken.turn)}"
        if broken.kind == "joined" and broken.joined is not None:
            return f"the walk joined the path at step {broken.joined + 1}"
        return {
            "stopped": f"the walk stopped at {source}",
            "never": "the walk never entered the path" if case.walked else "",
            "other route": f"the walk came to {self._name(self._gold.edges[-1][2])} by another route",
            "beside": "the walk came to a node of the path, but took no step of it",
        }.get(broken.kind, "")

    def _lacking(self) -> dict[int, Edge]:
        """Return the missed required steps of the path that the graph lacks, by their numbers from 1."""
        edges = zip(self._gold.edges, self._gold.optional, strict=True)
        absent = self._case.absent or ()
        wanted = {number: edge for number, (edge, optional) in enumerate(edges, 1) if edge in absent and not optional}
        walked = contained(wanted.values(), self._case.walked, self._case.untyped)
        return {number: edge for number, edge in wanted.items() if edge not in walked}

    def _no_walk(self) -> str:
        """Return a sentence on the steps of the path that no walk can take; nothing if the graph has all."""
        lacking = self._lacking()
        if not lacking:
            return ""
        *others, last = map(str, lacking)
        steps = f"steps {', '.join(others)} and {last}" if others else f"step {last}"
        kinds = {*map(self._edges, lacking.values())}
        look = f"{kinds.pop()}" if len(kinds) == 1 else "their edges"
        return f"No walk over this knowledge graph can take {steps}: look at the extraction of {look}."

    def _do(self, what: str) -> str:
        """Return what to do, and that the graph has the step, if that is known."""
        step = f"step {self._broken.step + 1}" if self._steps else self._whole_edge()
        if self._case.absent is None:
            return f"For {step}, {what}."
        return f"{what[0].upper()}{what[1:]}: the graph has {step}."

    def _whole_edge(self) -> str:
        source, relation, target = self._edge
        shown = (
            self._name(source)[1:-1],
            f"-{self._text(relation)[1:-1] if relation else ''}->",
            self._name(target)[1:-1],
        )
        return in_backticks(" ".join(shown), 3 * self._room + 5)

    def _by(self, edge: Edge) -> str:
        by = f" by {self._relation(edge)}" if edge[1] else ""
        return f"{by} to {self._end(edge)}"

    def _end(self, edge: Edge) -> str:
        return "itself" if edge[0] == edge[2] else self._name(edge[2])

    def _edges(self, edge: Edge) -> str:
        return f"{self._relation(edge)} edges" if edge[1] else "edges"

    def _relation(self, edge: Edge) -> str:
        return self._text(edge[1] or "")

    def _name(self, node: str) -> str:
        return self._text(self._names[node])

    def _text(self, text: str) -> str:
        return in_backticks(text, self._room)
