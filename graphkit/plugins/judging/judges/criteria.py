"""The grader ``criteria``: what a question says that its answer must say or do, or must not.

A judge sees the criteria that are texts, and says whether the answer does what each describes; that this is wanted or
unwanted isn't shown. An id, a repository, a relation or a commit is looked up in what the answer retrieved, traversed
and cited. A criterion that can't be decided never counts as one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.text import named, words_of
from graphkit.measures.unscored import NEITHER_LOGGED, NO_RETRIEVAL, NO_TRAVERSAL
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, each_once
from graphkit.plugins.judging.judges.materials import Materials, criterion_keys
from graphkit.plugins.judging.judges.prompts import CRITERIA as CRITERIA_PART
from graphkit.plugins.judging.judges.prompts import PARTS, RUBRIC_PART
from graphkit.records.commits import begins
from graphkit.records.structs import CriterionStruct
from graphkit.records.words import counted, shortened

SCORE, MET = "CriteriaScore", "CriteriaMet"

NO_CRITERIA = "the question has no criteria"
NO_REPOSITORY = "the repository of something retrieved or traversed isn't known"
NO_RELATION = "a traversed edge has no relation"
NO_COMMIT = "the commit of something retrieved or traversed isn't known"
NO_VERDICT = "no judge decided it"
BLANK = "it is blank"

#: The fewest characters of a sha by which a commit is known.
SHORTEST_SHA = 7
SHORT_SHA = f"it begins like a commit that was read there, and a sha is known by {SHORTEST_SHA} characters"


class CriterionVerdict(VerdictForm):
    """Whether the answer does what a criterion describes."""

    criterion: Words
    reason: Words
    present: bool


class CriteriaVerdict(VerdictForm):
    """Each criterion once."""

    criteria: list[CriterionVerdict]


@dataclass(frozen=True, slots=True)
class _Decided:
    """A criterion with what came of it: ``holds`` is None if it is unknown; ``at`` is where its name was found."""

    criterion: CriterionStruct
    place: int
    holds: bool | None
    reason: str
    at: _FoundAt | None = None

    @property
    def words(self) -> str:
        kind, subject = _parts(self.criterion)
        said = subject if isinstance(subject, str) else " ".join(*subject.items())
        return f"{kind.replace('_', ' ')}: {shortened(said)}"

    def as_json(self) -> dict[str, Any]:
        """Return the criterion with what came of it, as verdicts hold it."""
        kind, subject = _parts(self.criterion)
        [(about, name)] = [("text", subject)] if isinstance(subject, str) else subject.items()
        about_it = {"criterion": self.words, "weight": self.criterion.weight, "holds": self.holds}
        at = self.at or _FoundAt()
        where = {"edge": at.edge and list(at.edge), "retrieved": at.retrieved, "repo": at.repo}
        return {**about_it, "reason": self.reason, "kind": kind, "about": about, "name": name, **where}


@dataclass(frozen=True, slots=True)
class _FoundAt:
    """The traversed edge, else the retrieved id, in which a name was found, with its repository."""

    edge: Edge | None = None
    retrieved: str | None = None
    repo: str | None = None


def _parts(criterion: CriterionStruct) -> tuple[str, str | Mapping[Any, str]]:
    """Return ``must`` or ``must_not``, and what the criterion is about."""
    if criterion.must is not None:
        return "must", criterion.must
    return "must_not", criterion.must_not or ""


def _decided(materials: Materials, said: Mapping[str, CriterionVerdict]) -> list[_Decided]:
    """Return each criterion, decided by what a judge said, or by the record."""
    found = []
    for place, criterion in enumerate(materials.criteria, 1):
        kind, subject = _parts(criterion)
        if isinstance(subject, str):
            verdict = said.get(f"q{place}")
            undecided = NO_VERDICT if subject.strip() else BLANK
            present, reason = (None, undecided) if verdict is None else (verdict.present, verdict.reason)
            at = None
        elif materials.case is None:
            present, reason, at = None, NEITHER_LOGGED, None
        else:
            [(what, name)] = subject.items()
            present, reason = _looked_up(what, name, materials.case)
            at = _place_of(what, name, materials.case) if present else None
        holds = None if present is None else present is (kind == "must")
        found.append(_Decided(criterion, place, holds, reason, at))
    return found


def _looked_up(what: str, name: str, case: Case) -> tuple[bool | None, str]:
    """Return whether an answer retrieved, traversed or cited a name, and why; None if it isn't known."""
    there, unknown = _PLACES[what](name, case)
    if there:
        return True, "found in what the answer retrieved, traversed or cited"
    return (False, "found nowhere") if unknown is None else (None, unknown)


def _place_of(what: str, name: str, case: Case) -> _FoundAt | None:
    """Return the first traversed edge, else the first retrieved id, that holds a name; None if only the text does."""
    places = case.places

    def held(node: str, repo: str | None, commit: str | None) -> bool:
        if what == "commit":
            return commit is not None and repo is not None and _is_commit(name, repo, case.sha(repo, commit), case)
        return name == (node if what == "id" else repo)

    for step in (step for walk in case.walks for step in walk):
        edge = step.source, step.relation, step.target
        for node, commit in ((step.source, step.source_commit), (step.target, step.target_commit)):
            repo = places.repo(node)
            if step.relation == name if what == "relation" else held(node, repo, commit):
                return _FoundAt(edge, None, repo)
    for chunk, version in zip(case.chunks, case.chunk_versions, strict=True):
        for repo in (version.repo, places.repo(chunk.id)) if what != "relation" else ():
            if held(chunk.id, repo, version.sha):
                return _FoundAt(None, chunk.id, repo)
    return None


def _is_commit(name: str, repo: str, sha: str, case: Case) -> bool:
    # A record may hold a part of a sha, too, and in capitals.
    alike = begins(sha.lower(), name) or begins(name.lower(), sha)
    return sha == case.sha(repo, name) or (alike and min(len(sha), len(name)) >= SHORTEST_SHA)


def _id(name: str, case: Case) -> tuple[bool, str | None]:
    answer = case.answer
    there = name in {*_nodes(case)} or (
        answer is not None
        and (name in answer.citations or named(name, answer.answer or "", words_of(answer.answer or "")))
    )
    return there, _unlogged(case)


def _repository(name: str, case: Case) -> tuple[bool, str | None]:
    nodes = [chunk.id for chunk in case.chunks if not chunk.repo] + [end for edge in case.walked for end in edge[::2]]
    unknown = any(case.places.repo(node) is None for node in nodes if node)
    # An id that names its repository lies there, whatever other one its chunk states.
    there = name in case.repositories | case.places.named(chunk.id for chunk in case.chunks)
    return there, _unlogged(case) or (NO_REPOSITORY if unknown else None)


def _relation(name: str, case: Case) -> tuple[bool, str | None]:
    relations = {edge[1] for edge in case.walked}
    if not case.walk_logged:
        return False, NO_TRAVERSAL
    return name in relations, NO_RELATION if None in relations else None


def _commit(name: str, case: Case) -> tuple[bool, str | None]:
    if any(_is_commit(name, repo, sha, case) for repo, sha in case.touched):
        return True, None
    if any(begins(sha.lower(), name) or begins(name.lower(), sha) for _, sha in case.touched):
        return False, SHORT_SHA
    steps = (step for walk in case.walks for step in walk)
    unknown = any(one.sha is None for one in case.versions) or any(
        not (step.source_commit and step.target_commit) for step in steps
    )
    return False, _unlogged(case) or (NO_COMMIT if unknown else None)


_PLACES = {"id": _id, "repository": _repository, "relation": _relation, "commit": _commit}


def _nodes(case: Case) -> Iterator[str]:
    yield from (chunk.id for chunk in case.chunks)
    for source, _, target in case.walked:
        yield from (source, target)


def _unlogged(case: Case) -> str | None:
    """Return what the record doesn't log, None if it logs retrieval and traversal."""
    if case.all_logged:
        return None
    if not case.chunks_logged and not case.walk_logged:
        return NEITHER_LOGGED
    return NO_TRAVERSAL if case.chunks_logged else NO_RETRIEVAL


def _findings(decided: Sequence[_Decided]) -> list[Finding]:
    broken = [one for one in decided if one.holds is False]
    unknown = [one for one in decided if one.holds is None]
    held = [one for one in decided if one.holds]
    explanation = f"{len(held)} of {counted(len(decided), 'criterion', 'criteria')} met"
    explanation += f", {len(unknown)} undecided" if unknown else ""
    if broken:
        explanation += f"; broken: {'; '.join(one.words for one in broken)}"
    if unknown:
        reason = f"criterion {unknown[0].place} ({unknown[0].words}): {unknown[0].reason}"
        score = Finding(SCORE, None, reason, explanation=explanation)
        met = Finding(MET, None, reason, explanation=explanation)
    else:
        weights = sum(one.criterion.weight for one in held)
        score = Finding(SCORE, weights / sum(one.criterion.weight for one in decided), explanation=explanation)
        met = Finding(MET, 1.0, explanation=explanation)
    return [score, Finding(MET, 0.0, explanation=explanation) if broken else met]


def _read(verdict: CriteriaVerdict, materials: Materials) -> Reading:
    each_once([one.criterion for one in verdict.criteria], [*criterion_keys(materials)], "criterion")
    decided = _decided(materials, {one.criterion: one for one in verdict.criteria})
    return _reading(decided)


def _reading(decided: Sequence[_Decided]) -> Reading:
    return Reading(_findings(decided), content={"criteria": [one.as_json() for one in decided]})


def _unasked(materials: Materials) -> Reading | None:
    """Return the reading if no criterion is a text."""
    return None if criterion_keys(materials) else _reading(_decided(materials, {}))


def _computed(materials: Materials) -> Reading:
    """Return that not all are met, if the record alone breaks a criterion: whatever becomes of the verdict."""
    decided = _decided(materials, {})
    broken = [one.words for one in decided if one.holds is False]
    if not broken:
        return Reading(())
    return replace(_reading(decided), findings=[Finding(MET, 0.0, explanation=f"broken: {'; '.join(broken)}")])


CRITERIA = Grader(
    "criteria",
    CriteriaVerdict,
    (*PARTS[:5], CRITERIA_PART, RUBRIC_PART),
    (SCORE, MET),
    _read,
    lacks=lambda materials: None if materials.criteria else NO_CRITERIA,
    unasked=_unasked,
    computed=_computed,
)
