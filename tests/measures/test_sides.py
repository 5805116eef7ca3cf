"""Questions over two versions: gold paths with commits of their own."""

from __future__ import annotations

from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.coherence import version_pairs
from graphkit.measures.registry import parse_measure
from graphkit.measures.sided_case import at_sides, sided
from graphkit.measures.unscored import Unscored
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, Commit, Compatibility, Question
from tests.measures import sided_worlds as worlds

GRAPH = CommitGraph.build(
    [Commit.model_validate(row) for row in worlds.COMMITS],
    [Compatibility.model_validate(row) for row in worlds.COMPATIBILITY],
)


def case_of(question: dict[str, Any], record: dict[str, Any]) -> Case:
    """Return the case of a question and a record."""
    return Case(Question.model_validate(question), Answer.model_validate(record), GRAPH)


def value(measure: str, case: Case) -> float | Unscored:
    """Return the value of a measure."""
    return parse_measure(measure).value(case)


def test_a_thousand_worlds() -> None:
    """Edges, pins and pairs of chunks of 1,000 random questions are those that the definition counts."""
    counted = {"recall": 0, "precision": 0, "off": 0, "pairs": 0, "mixed": 0, "bare": 0}
    for seed in range(1000):
        question, record = worlds.world(seed)
        case = case_of(question, record)
        if (found := worlds.recall(question, record)) is not None:
            assert value("EdgeRecall", case) == found[0] / found[1], seed
            counted["recall"] += 0 < found[0] < found[1]
        right, every = worlds.precision(question, record)
        if every:
            assert value("EdgePrecision", case) == right / every, seed
            counted["precision"] += 0 < right < every
        off = worlds.off_pin(question, record)
        scored = value("OffPin", case)
        assert scored == 1 if off else isinstance(scored, Unscored) or scored == 0, seed
        assert sum(number for _, _, _, number in version_pairs(case)) == worlds.shared_pairs(question, record), seed
        counted["off"] += off
        counted["pairs"] += worlds.shared_pairs(question, record) > 0
        counted["mixed"] += bool(sided(case).mixed)
        without = worlds.without_version(question, record)
        assert sided(case).bare == len({worlds.edge_of(step) for step in without}), seed
        # Nor does an edge without a relation match one that has one.
        kept = {"traversal": [{"relation": "?", **step} for step in record["traversal"] if step not in without]}
        if (found := worlds.recall(question, kept)) is not None:
            assert value("EdgeRecall", case.strict) == found[0] / found[1], seed
        counted["bare"] += bool(without)
    # The worlds reach what they are made for.
    assert min(counted.values()) > 30, counted


LOGIN = {"source": "web:login", "relation": "CALLS", "target": "api:auth"}
TAGS = {"v1.0.0": "1" * 40, "v2.0.0": "2" * 40, "w1": "3" * 40, "v0": "9" * 40}
KNOWN = CommitGraph.build(
    [
        Commit(repo="web" if tag == "w1" else "api", sha=sha, tags=(tag,), branch=f"of-{tag}")
        for tag, sha in TAGS.items()
    ]
)


def two_versions(*walked: dict[str, Any], retrieved: list[dict[str, str]] | None = None, **more: Any) -> Case:
    """Return a case of the login at two versions of the api, whose second one also verifies a token."""
    token = {"source": "api:auth", "relation": "VERIFIES", "target": "api:token"}
    paths = [
        {"commits": {"api": "v1.0.0", "web": "w1"}, "steps": [LOGIN]},
        {"commits": {"api": "v2.0.0", "web": "w1"}, "steps": [LOGIN, token]},
    ]
    question = Question.model_validate({"id": "q", "question": "?", "paths": paths, **more})
    record = {"run": "r", "question_id": "q", "traversal": list(walked), "retrieved": retrieved or []}
    return Case(question, Answer.model_validate(record), KNOWN)


def test_a_label_names_what_differs() -> None:
    """A side is called by the commits that tell it from the others: that of the api alone, the web's is the same."""
    case = at_sides(two_versions())
    assert case is not None
    assert [side.label for side in case.sides] == ["v1.0.0", "v2.0.0"]
    assert case.gold[0].edges == [("web:login@v1.0.0", "CALLS", "api:auth@v1.0.0")]
    assert (case.places.repo("api:auth@v1.0.0"), case.places.path("api:auth@v1.0.0")) == ("api", "auth")
    assert case.places.names("api:auth@v1.0.0")[0] == "auth@v1.0.0"


def test_a_name_of_most_repositories_stands_once() -> None:
    """Of three repositories two are at v1: it stands alone, and the third beside its name. Two of two names don't.

    Where sides would be called alike, since one doesn't pin the third repository, each repository is named.
    """

    def labels(*commits: dict[str, str]) -> list[str]:
        paths = [{"commits": one, "steps": [LOGIN]} for one in commits]
        compared = at_sides(two_versions(LOGIN, paths=paths))
        assert compared is not None
        return [side.label for side in compared.sides]

    assert labels({"a": "v1", "b": "v1", "c": "v1.1"}, dict.fromkeys("abc", "v2")) == ["v1, c v1.1", "v2"]
    assert labels({"a": "v1", "b": "v3"}, dict.fromkeys("ab", "v2")) == ["a v1, b v3", "v2"]
    alike = labels({"a": "v1", "b": "v1"}, dict.fromkeys("abc", "v1"), {"a": "v2"})
    assert alike == ["a v1, b v1", "a v1, b v1, c v1", "a v2"]


def test_an_edge_counts_once_for_each_side() -> None:
    """Of the three required edges, the login at v1 alone is 1, and without a commit it is that of both sides."""
    assert value("EdgeRecall", two_versions(LOGIN | {"target_commit": "v1.0.0"})) == 1 / 3
    assert value("EdgeRecall", two_versions(LOGIN)) == 2 / 3
    # A prefix names the commit, too; another version than those of the sides matches nothing.
    assert value("EdgeRecall", two_versions(LOGIN | {"target_commit": "22222"})) == 1 / 3
    other = two_versions(LOGIN | {"target_commit": "v0"})
    assert (value("EdgeRecall", other), value("EdgePrecision", other)) == (0, 0)


def test_at_a_gate_an_edge_without_a_commit_matches_nothing() -> None:
    """Strict comparison takes an edge without a commit for one that isn't logged."""
    case = two_versions(LOGIN)
    assert (sided(case).bare, value("EdgeRecall", case.strict)) == (1, 0)
    # The commit of one end suffices if it tells the versions apart: both have the web at w1, and db has no version.
    case = two_versions(LOGIN | {"target_commit": "v1.0.0"})
    assert (sided(case).bare, value("EdgeRecall", case.strict)) == (0, 1 / 3)
    case = two_versions(LOGIN | {"source_commit": "w1"})
    assert (sided(case).bare, value("EdgeRecall", case), value("EdgeRecall", case.strict)) == (1, 2 / 3, 0)
    case = two_versions({"source": "api:auth", "relation": "READS", "target": "db:s", "target_commit": "x"})
    assert sided(case).bare == 1
    # Of an edge outside gold without a version, nothing is asked.
    assert sided(two_versions({"source": "db:s", "relation": "READS", "target": "db:t"})).bare == 0


def test_an_edge_of_two_versions_is_mixed() -> None:
    """An edge from auth at v1 to token at v2 fits no side: it is named, and matches nothing."""
    step = {"source": "api:auth", "relation": "VERIFIES", "target": "api:token"}
    case = two_versions(step | {"source_commit": "v1.0.0", "target_commit": "v2.0.0"})
    assert value("EdgeRecall", case) == 0
    [mixed] = sided(case).mixed
    assert (mixed.source_commit, mixed.target_commit) == ("v1.0.0", "v2.0.0")
    # An end at a commit of no side makes it another version's, not a mixed one.
    assert not sided(two_versions(step | {"source_commit": "v0", "target_commit": "v2.0.0"})).mixed


def test_a_path_without_commits_is_about_the_pins_of_the_question() -> None:
    """A third path without commits belongs to the question's own pin, and the commits of a path go before it."""
    pin = {"api": "v0"}
    paths = [{"steps": [LOGIN]}, {"commits": {"api": "v1.0.0"}, "steps": [LOGIN]}]
    case = two_versions(LOGIN | {"target_commit": "v0"}, commits=pin, paths=paths)
    compared = at_sides(case)
    assert compared is not None
    assert [side.commits for side in compared.sides] == [{"api": "1" * 40}, {"api": "9" * 40}]
    assert value("EdgeRecall", case) == 1 / 2


def test_alternatives_of_two_versions_stay_alternatives() -> None:
    """Of a group one path is enough, whichever version it is of."""
    paths = [{"group": "g", "commits": {"api": tag}, "steps": [LOGIN]} for tag in ("v1.0.0", "v2.0.0")]
    assert value("EdgeRecall", two_versions(LOGIN | {"target_commit": "v2.0.0"}, paths=paths)) == 1


def test_an_alternative_without_commits_fits_what_the_question_pins() -> None:
    """Of a group one path has commits and one has none: what fits the latter is on pin, as its whole walk is right."""
    paths = [{"group": "g", "commits": {"api": "v1.0.0"}, "steps": [LOGIN]}, {"group": "g", "steps": [LOGIN]}]
    walk, chunk = LOGIN | {"target_commit": "v2.0.0"}, {"id": "api:auth", "commit": "v2.0.0"}
    # The question pins nothing, so that the second path may be walked at any commit.
    case = two_versions(walk, retrieved=[chunk], paths=paths)
    assert [value(one, case) for one in ("PathExact", "OffPin")] == [1, 0]
    # It pins v0: then v2.0.0 fits neither path, v0 the second, and v1.0.0 the first.
    for commit, exact, off in (("v2.0.0", 0, 1), ("v0", 1, 0), ("v1.0.0", 1, 0)):
        read = LOGIN | {"target_commit": commit}
        case = two_versions(read, retrieved=[chunk | {"commit": commit}], paths=paths, commits={"api": "v0"})
        assert [value(one, case) for one in ("PathExact", "OffPin")] == [exact, off]
    # A side fits every commit of a repository that it doesn't pin.
    assert value("OffPin", two_versions(retrieved=[{"id": "db:users", "commit": "x"}])) == 0


def test_chunks_of_two_versions() -> None:
    """The chunk that both sides share fits each: 2 of 2 pairs count, that of the versions of auth doesn't."""
    chunks = [{"id": "web:login", "commit": "w1"}]
    chunks += [{"id": "api:auth", "commit": tag} for tag in ("v1.0.0", "v2.0.0")]
    case = two_versions(retrieved=chunks)
    assert (value("Coherence", case), value("OffPin", case)) == (1, 0)
    assert len(version_pairs(case)) == 2
    # Two versions of one file share no side.
    found = value("Coherence", two_versions(retrieved=chunks[1:]))
    assert found == Unscored("no two retrieved chunks belong to one of the versions that the question is about")
    assert value("OffPin", two_versions(retrieved=[*chunks, {"id": "api:token", "commit": "v0"}])) == 1


def test_a_case_without_sides_is_its_own() -> None:
    """A question whose paths have no commits is compared as it stands."""
    case = two_versions(LOGIN, paths=[{"steps": [LOGIN]}], commits={"api": "v1.0.0"})
    assert sided(case) is case
    assert value("EdgeRecall", case) == 1
