"""Version coherence: the worked case, the rules and their order, and unknown commits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest

from graphkit.measures.case import Case
from graphkit.measures.coherence import PARTLY_VERSIONED
from graphkit.records.commits import RULES, CommitGraph, Fit, Version
from graphkit.records.models import Answer, Commit, Compatibility
from tests.helpers.cases import answer, question, reason, value

NOTHING_KNOWN = "nothing is known about commits: the dataset has no commits, compatibility rows or deployments"
START = datetime(2025, 1, 1, tzinfo=UTC)


def commit(repo: str, sha: str, hours: float | None = 0, branch: str | None = "main") -> Commit:
    """Return a commit of so many hours after a start."""
    at = None if hours is None else START + timedelta(hours=hours)
    return Commit(repo=repo, sha=sha, branch=branch, committed_at=at)


def row(name: str, compatible: bool = True, environment: str | None = None, **commits: str) -> Compatibility:
    """Return a row about commits, written ``repo="sha"``."""
    return Compatibility(id=name, commits=commits, compatible=compatible, environment=environment)


def chunks(*versions: str, branch: str | None = None) -> Answer:
    """Return a record with a chunk for each ``repo@sha``, each with an id of its own; ``repo`` has no commit."""
    retrieved = []
    for number, version in enumerate(versions):
        repo, _, sha = version.partition("@")
        retrieved.append({"id": f"{repo}:{number}.py", "commit": sha or None, "branch": branch})
    return answer(retrieved=retrieved)


def verdict(graph: CommitGraph, one: str, other: str) -> Fit:
    """Return the verdict about two ``repo@sha``, which must not depend on their order."""
    first, second = (Version(*version.split("@")) for version in (one, other))
    found = graph.verdict(first, second)
    assert graph.verdict(second, first) == found
    assert found.rule in RULES
    return found


# The worked case ---------------------------------------------------------------------------------------------------


@pytest.fixture
def worked() -> CommitGraph:
    """A and B of x at 0 and 2 h, C and D of y at 30 and 40 h, all on main; A and D were deployed together."""
    return CommitGraph.build(
        [commit("x", "A", 0), commit("x", "B", 2), commit("y", "C", 30), commit("y", "D", 40)],
        [row("prod-1", environment="prod", x="A", y="D")],
    )


def test_worked_case(worked: CommitGraph) -> None:
    """Three of six pairs fit: AB (branch), AD (deployed), CD (branch)."""
    assert value("Coherence", question(), chunks("x@A", "x@B", "y@C", "y@D"), worked) == 0.5


def test_worked_rules(worked: CommitGraph) -> None:
    """Each pair of the worked case is decided by the rule that the definition names."""
    names = {"A": "x@A", "B": "x@B", "C": "y@C", "D": "y@D"}
    found = {one + two: verdict(worked, names[one], names[two]) for one, two in combinations("ABCD", 2)}
    assert found == {
        "AB": (True, "same branch"),
        "AC": (False, "no rule"),  # 30 h apart
        "AD": (True, "deployed together"),
        "BC": (False, "no rule"),  # 28 h
        "BD": (False, "no rule"),  # 38 h
        "CD": (True, "same branch"),
    }


# The rules ---------------------------------------------------------------------------------------------------------


def test_unknown_commit_comes_before_the_same_commit() -> None:
    """Two chunks of the same unknown commit don't fit."""
    graph = CommitGraph.build([commit("x", "A")])
    assert verdict(graph, "x@Z", "x@Z") == (False, "unknown commit")
    assert verdict(graph, "x@A", "x@Z") == (False, "unknown commit")
    # The sha is known, but of another repository.
    assert verdict(graph, "x@A", "y@A") == (False, "unknown commit")


def test_same_commit_fits() -> None:
    """A commit fits itself, without a branch or a time."""
    graph = CommitGraph.build([commit("x", "A", None, None)])
    assert verdict(graph, "x@A", "x@A") == (True, "same commit")


def test_incompatibility_comes_before_compatibility() -> None:
    """A pair in a compatible and in an incompatible row is incompatible, whichever row comes first."""
    good, bad = row("good", x="A", y="C"), row("bad", compatible=False, x="A", y="C")
    for rows in ([good, bad], [bad, good]):
        assert verdict(CommitGraph.build([], rows), "x@A", "y@C") == (False, "incompatible")


def test_incompatibility_comes_before_branch_deployment_and_day() -> None:
    """An incompatible row overrides a common branch, deployment and hour."""
    commits = [commit("x", "A", 0), commit("y", "C", 1)]
    rows = [row("prod", environment="prod", x="A", y="C"), row("bad", compatible=False, x="A", y="C")]
    assert verdict(CommitGraph.build(commits, rows[:1]), "x@A", "y@C") == (True, "deployed together")
    assert verdict(CommitGraph.build(commits, rows), "x@A", "y@C") == (False, "incompatible")


def test_compatibility_comes_before_deployment_branch_and_day() -> None:
    """The reported rule is the first that applies."""
    commits = [commit("x", "A", 0), commit("y", "C", 1)]
    rows = [row("prod", environment="prod", x="A", y="C"), row("good", x="A", y="C")]
    assert verdict(CommitGraph.build(commits, rows), "x@A", "y@C") == (True, "compatible")
    assert verdict(CommitGraph.build(commits), "x@A", "y@C") == (True, "same day")


def test_deployment_comes_before_branch() -> None:
    """A common deployment is reported before the branch; a row names only one commit of a repository."""
    commits = [commit("x", "A", 0), commit("y", "C", 90)]
    rows = [row("prod", environment="prod", x="A", y="C")]
    assert verdict(CommitGraph.build(commits, rows), "x@A", "y@C") == (True, "deployed together")
    assert verdict(CommitGraph.build(commits), "x@A", "y@C") == (False, "no rule")


def test_deployments_apart_say_nothing() -> None:
    """Two commits of different deployments don't fit."""
    commits = [commit("x", "A", 0), commit("y", "C", 90)]
    rows = [row("monday", environment="prod", x="A", z="E"), row("friday", environment="prod", y="C", z="E")]
    assert verdict(CommitGraph.build(commits, rows), "x@A", "y@C") == (False, "no rule")


def test_same_branch_of_the_same_repository_only() -> None:
    """Branches of two repositories differ even with one name, and commits without a branch share none."""
    graph = CommitGraph.build(
        [
            commit("x", "A", 0, "2.x"),
            commit("x", "B", 500, "2.x"),
            commit("y", "C", 0, "2.x"),
            commit("x", "D", 0, None),
            commit("x", "E", 0, None),
        ]
    )
    assert verdict(graph, "x@A", "x@B") == (True, "same branch")
    assert verdict(graph, "x@A", "y@C") == (False, "no rule")
    assert verdict(graph, "x@D", "x@E") == (False, "no rule")


@pytest.mark.parametrize(
    ("seconds", "fits"), [(0, True), (86_399, True), (86_400, False), (86_401, False)], ids=["0", "-1s", "24h", "+1s"]
)
def test_window_is_less_than_24_hours(seconds: int, fits: bool) -> None:
    """Exactly 24 hours isn't less than 24 hours."""
    graph = CommitGraph.build([commit("x", "A", 0), commit("y", "C", seconds / 3600)])
    assert verdict(graph, "x@A", "y@C") == ((True, "same day") if fits else (False, "no rule"))


def test_window_compares_moments_not_clocks() -> None:
    """Times in different zones are compared in UTC: these are 23 h apart, and their clocks 25 h."""
    one = Commit.model_validate(
        {"repo": "x", "sha": "A", "branch": "main", "committed_at": "2025-01-01T00:00:00+00:00"}
    )
    two = Commit.model_validate(
        {"repo": "y", "sha": "C", "branch": "main", "committed_at": "2025-01-02T01:00:00+02:00"}
    )
    assert verdict(CommitGraph.build([one, two]), "x@A", "y@C") == (True, "same day")


@pytest.mark.parametrize(
    ("branches", "fits"),
    [(("main", "master"), True), (("trunk", "main"), True), (("main", "2.x"), False), (("main", None), False)],
)
def test_window_is_for_default_branches(branches: tuple[str, str | None], fits: bool) -> None:
    """Both commits must be on a default branch, whatever its name."""
    graph = CommitGraph.build([commit("x", "A", 0, branches[0]), commit("y", "C", 1, branches[1])])
    assert verdict(graph, "x@A", "y@C").compatible is fits


def test_window_needs_both_times() -> None:
    """A commit without a time is close to no other."""
    graph = CommitGraph.build([commit("x", "A", None), commit("y", "C", 0)])
    assert verdict(graph, "x@A", "y@C") == (False, "no rule")


def test_branch_of_the_chunk_comes_before_that_of_the_commit() -> None:
    """The branch of a chunk counts; an empty one is ignored."""
    graph = CommitGraph.build([commit("x", "A", 0, "main"), commit("x", "B", 500, "main")])
    on_main, on_side = Version("x", "A"), Version("x", "B", "side")
    assert graph.verdict(on_main, on_side) == (False, "no rule")
    assert graph.verdict(on_main, Version("x", "B")) == (True, "same branch")
    assert value("Coherence", question(), chunks("x@A", "x@B", branch=""), graph) == 1.0


def test_commits_of_a_row_are_known() -> None:
    """A commit in a compatibility row is known, without branch and time."""
    graph = CommitGraph.build([], [row("good", x="A", y="C")])
    assert verdict(graph, "x@A", "y@C") == (True, "compatible")
    assert graph.knows(Version("x", "A"))
    assert not graph.knows(Version("x", None))


# The measure -------------------------------------------------------------------------------------------------------


def test_one_chunk_is_coherent(worked: CommitGraph) -> None:
    """A single chunk has no pair that could clash, even if its commit is unknown or listed twice."""
    assert value("Coherence", question(), chunks("x@A"), worked) == 1.0
    assert value("Coherence", question(), chunks("x@unknown"), worked) == 1.0
    twice = answer(retrieved=[{"id": "x:1", "commit": "A"}, {"id": "x:1", "commit": "A"}])
    assert value("Coherence", question(), twice, worked) == 1.0


def test_unknown_and_missing_commits_count_as_not_compatible(worked: CommitGraph) -> None:
    """Among the pairs of A, B and an unknown commit, or none, only AB fits."""
    assert value("Coherence", question(), chunks("x@A", "x@B", "x@Z"), worked) == pytest.approx(1 / 3)
    assert value("Coherence", question(), chunks("x@A", "x@B", "x"), worked) == pytest.approx(1 / 3)


def test_chunks_of_one_version_are_pairs_too(worked: CommitGraph) -> None:
    """Three chunks of A and one of C: 3 of 6 pairs fit."""
    assert value("Coherence", question(), chunks("x@A", "x@A", "x@A", "y@C"), worked) == 0.5


def test_unscored(worked: CommitGraph) -> None:
    """Nothing retrieved, chunks without commits, and no known commit are different reasons."""
    assert reason("Coherence", question(), chunks(), worked) == "nothing was retrieved"
    for nothing in (chunks("x", "y"), answer(retrieved=[{"id": "x:1", "commit": ""}])):
        assert reason("Coherence", question(), nothing, worked) == "no retrieved chunk carries a commit (not logged)"
    assert reason("Coherence", question(), chunks("x@A", "x@B")) == NOTHING_KNOWN


def test_the_questions_own_pins_fit(worked: CommitGraph) -> None:
    """Two pins of the question fit, known or not; a pin and another commit need another rule."""
    # B and C are 28 h apart: no rule but the pins. P and Q are known to nobody.
    assert value("Coherence", question(commits={"x": "B", "y": "C"}), chunks("x@B", "y@C"), worked) == 1.0
    pinned = question(commits={"x": "P", "y": "Q"})
    # Of the six pairs of two chunks of P, one of Q and one of C, PP, PQ, PQ fit; C is no pin.
    assert value("Coherence", pinned, chunks("x@P", "x@P", "y@Q", "y@C"), worked) == 0.5
    # A pin is one of its repository: y@P is none, nor is a chunk without a commit.
    assert value("Coherence", pinned, chunks("x@P", "y@P"), worked) == 0.0
    assert value("Coherence", pinned, chunks("x@P", "y"), worked) == 0.0


def test_an_incompatibility_comes_before_the_pins() -> None:
    """An incompatible row overrides two pins; pins alone give no score."""
    pinned = question(commits={"x": "A", "y": "C"})
    clash = CommitGraph.build([], [row("bad", compatible=False, x="A", y="C")])
    assert value("Coherence", pinned, chunks("x@A", "y@C"), clash) == 0.0
    assert reason("Coherence", pinned, chunks("x@A", "y@C")) == NOTHING_KNOWN


# Incoherent and OffPin ---------------------------------------------------------------------------------------------


@pytest.fixture
def stacks() -> CommitGraph:
    """Two stacks that share y@C, a deployment, and a row about a clash."""
    return CommitGraph.build(
        [],
        [
            row("one", x="A", y="C"),
            row("two", x="B", y="C", z="E"),
            row("prod", environment="prod", x="A", z="E"),
            row("clash", compatible=False, x="B", w="W"),
        ],
    )


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (("x@A", "y@C"), 0.0),
        (("y@C",), 0.0),
        (("x@A", "z@E"), 0.0),  # a deployment is as good as a compatible row
        (("x@A", "y@C", "z@E"), 1.0),  # each pair is in a row, all three in none
        (("x@A", "x@B"), 1.0),
        (("x@B", "w@W"), 1.0),  # the row that holds both says that they clash
        (("x@unknown",), 1.0),
    ],
)
def test_incoherent(stacks: CommitGraph, versions: tuple[str, ...], expected: float) -> None:
    """0 if one compatible row or deployment holds every commit, else 1."""
    assert value("Incoherent", question(), chunks(*versions), stacks) == expected


def test_incoherent_looks_at_the_traversal_too(stacks: CommitGraph) -> None:
    """The commits at the ends of traversed edges count too."""
    step = {"source": "x:1", "target": "y:2", "source_commit": "B", "target_commit": "C"}
    run = answer([step], retrieved=[{"id": "x:1", "commit": "A"}])
    assert value("Incoherent", question(), run, stacks) == 1.0
    assert value("Incoherent", question(), answer([step]), stacks) == 0.0


def test_incoherent_unscored(stacks: CommitGraph) -> None:
    """Without any commit, and without known commits, it isn't scored."""
    empty = answer(retrieved=[{"id": "x:1", "commit": ""}])
    bare = "nothing retrieved or traversed carries a commit (not logged)"
    for nothing in (chunks("x"), answer([("x:1", "R", "y:2")]), empty):
        assert reason("Incoherent", question(), nothing, stacks) == bare
    assert reason("Incoherent", question(), chunks(), stacks) == "nothing was retrieved or traversed"
    assert reason("Incoherent", question(), chunks("x@A")) == NOTHING_KNOWN


def test_off_pin(stacks: CommitGraph) -> None:
    """1 if a commit differs from its repository's pin, or its repository has none."""
    pinned = question(stack="one")
    assert value("OffPin", pinned, chunks("x@A", "y@C"), stacks) == 0.0
    assert value("OffPin", pinned, chunks("x@B"), stacks) == 1.0
    assert value("OffPin", pinned, chunks("x@A", "z@E"), stacks) == 1.0
    # A chunk without a commit might be off pin, so leaving it out isn't as good as being right.
    assert reason("OffPin", pinned, chunks("x@A", "z"), stacks) == PARTLY_VERSIONED
    assert value("OffPin", pinned, chunks("x@B", "z"), stacks) == 1.0
    assert reason("Incoherent", pinned, chunks("x@A", "z"), stacks) == PARTLY_VERSIONED


def test_the_questions_own_pins_come_first(stacks: CommitGraph) -> None:
    """The question's commits override those of its stack, repository by repository."""
    pinned = question(stack="one", commits={"x": "B"})
    assert value("OffPin", pinned, chunks("x@B", "y@C"), stacks) == 0.0
    assert value("OffPin", pinned, chunks("x@A"), stacks) == 1.0
    assert value("OffPin", question(commits={"x": "Q"}), chunks("x@Q")) == 0.0


def test_off_pin_unscored(stacks: CommitGraph) -> None:
    """Without a pin, with an unknown stack, and without any commit, it isn't scored."""
    assert reason("OffPin", question(), chunks("x@A"), stacks) == "the question pins no commit"
    assert reason("OffPin", question(stack="none"), chunks("x@A"), stacks) == "the question pins no commit"
    assert reason("OffPin", question(stack="one"), chunks("x"), stacks) == (
        "nothing retrieved or traversed carries a commit (not logged)"
    )


def test_incoherent_needs_something_to_hold_the_commits() -> None:
    """Without a compatible row or deployment it isn't scored, except for the question's own pins."""
    listed = CommitGraph.build([commit("x", "A"), commit("y", "C")], [row("bad", compatible=False, x="A", y="D")])
    reported = "nothing says which commits belong together: the dataset has no compatible rows or deployments"
    assert reason("Incoherent", question(), chunks("x@A", "y@C"), listed) == reported
    pinned = question(commits={"x": "A", "y": "C", "z": "Q"})
    assert value("Incoherent", pinned, chunks("x@A", "y@C"), listed) == 0.0
    assert value("Incoherent", pinned, chunks("x@A", "z@Q"), listed) == 0.0
    # One that isn't pinned, and a pin that a row says to clash.
    assert reason("Incoherent", pinned, chunks("x@A", "y@E"), listed) == reported
    assert reason("Incoherent", question(commits={"x": "A", "y": "D"}), chunks("x@A", "y@D"), listed) == reported
    # Whether commits belong together is decided by their branch and time all the same.
    assert value("Coherence", question(), chunks("x@A", "y@C"), listed) == 1.0


def test_the_questions_own_pins_belong_together(stacks: CommitGraph) -> None:
    """The question's pins belong together even if no row holds them, unless a row says that they clash."""
    assert value("Incoherent", question(commits={"x": "B", "y": "Q"}), chunks("x@B", "y@Q"), stacks) == 0.0
    assert value("Incoherent", question(commits={"x": "B", "y": "Q"}), chunks("x@B", "y@R"), stacks) == 1.0
    assert value("Incoherent", question(commits={"x": "B", "w": "W"}), chunks("x@B", "w@W"), stacks) == 1.0


# Names of commits --------------------------------------------------------------------------------------------------

#: Whole shas; the first two of x begin alike.
ONE, TWO, THREE, FOUR = ("abc1" + 36 * "1", "abc1" + 36 * "2", "abc3" + 36 * "3", "def4" + 36 * "4")


@pytest.fixture
def named() -> CommitGraph:
    """Three tagged commits of x and one of y, and a deployment that names its commits by a tag and a beginning."""
    return CommitGraph.build(
        [
            Commit(repo="x", sha=ONE, tag="v1"),
            Commit(repo="x", sha=TWO, tag="v2", tags=("v2", "beef", "twice")),
            Commit(repo="x", sha=THREE, tags=("twice", ONE)),
            Commit(repo="y", sha=FOUR),
        ],
        [row("prod", environment="prod", x="v2", y="def4"), row("vague", x="abc1", y=FOUR)],
    )


@pytest.mark.parametrize(
    ("name", "sha", "ambiguous"),
    [
        ("v1", ONE, None),
        ("beef", TWO, None),  # each of its tags
        ("abc3", THREE, None),
        ("ABC3", THREE, None),  # as git takes it
        ("abc12", TWO, None),
        (ONE, ONE, None),  # a sha comes before the tag of that name
        ("abc", "abc", None),  # three digits are too few
        ("abc1", "abc1", "ambiguous prefix: 2 commits"),
        ("twice", "twice", "ambiguous tag: 2 commits"),
        ("def4", "def4", None),  # of another repository
        ("v9", "v9", None),
        (40 * "f", 40 * "f", None),
    ],
)
def test_name_of_a_commit(named: CommitGraph, name: str, sha: str, ambiguous: str | None) -> None:
    """A name means its sha, else its tag, else the only sha with this prefix, else itself."""
    assert named.meant("x", name) == (sha, ambiguous)


def test_tag_comes_before_the_beginning_of_a_sha() -> None:
    """A tag that is also a prefix of another commit's sha means the tagged commit."""
    graph = CommitGraph.build([Commit(repo="x", sha=ONE), Commit(repo="x", sha=FOUR, tag="abc1")])
    assert graph.meant("x", "abc1") == (FOUR, None)
    assert graph.meant("x", "abc11") == (ONE, None)


def test_rows_name_commits_by_tag_and_beginning(named: CommitGraph) -> None:
    """The deployment holds TWO and FOUR; the row with an ambiguous name holds one commit only."""
    assert verdict(named, f"x@{TWO}", f"y@{FOUR}") == (True, "deployed together")
    assert verdict(named, f"x@{ONE}", f"y@{FOUR}") == (False, "no rule")
    assert verdict(named, "x@abc1", f"y@{FOUR}") == (False, "unknown commit")
    assert named.stacks == {"prod": {"x": TWO, "y": FOUR}, "vague": {"y": FOUR}}


def test_measures_take_names_for_what_they_mean(named: CommitGraph) -> None:
    """Chunks, both ends of steps, and pins name commits; an ambiguous name is an unknown commit."""
    assert value("Coherence", question(), chunks("x@v2", "x@abc12", "y@def4"), named) == 1.0
    assert value("Coherence", question(), chunks("x@abc1", "x@v2", "y@def4"), named) == pytest.approx(1 / 3)
    step = {"source": "x:1", "target": "y:2", "source_commit": "beef", "target_commit": "def4"}
    run = answer([step], retrieved=[{"id": "x:1", "commit": TWO}])
    assert value("Incoherent", question(), run, named) == 0.0
    assert value("OffPin", question(stack="prod"), run, named) == 0.0
    assert value("OffPin", question(commits={"x": "v2", "y": "def4"}), run, named) == 0.0
    assert value("OffPin", question(commits={"x": "v1", "y": "def4"}), run, named) == 1.0


def test_a_pin_may_be_named_by_its_beginning(named: CommitGraph) -> None:
    """A prefix of a pin means the pin even if the dataset lacks it, unless a known commit has the prefix too."""
    pin = "abc5" + 36 * "5"
    assert value("OffPin", question(commits={"x": pin}), chunks("x@abc5")) == 0.0
    assert value("OffPin", question(commits={"x": pin}), chunks("x@abc5"), named) == 0.0
    assert named.meant("x", "abc3", {"x": "abc3" + 36 * "5"}) == ("abc3", "ambiguous prefix: 2 commits")
    assert named.meant("x", "abc1", {"x": "abc1" + 36 * "5"}) == ("abc1", "ambiguous prefix: 3 commits")
    # Pinned is one of those that are known.
    assert named.meant("x", "abc1", {"x": ONE}) == ("abc1", "ambiguous prefix: 2 commits")


# Commits of artifacts ----------------------------------------------------------------------------------------------


def test_chunk_without_a_commit_takes_that_of_its_artifact() -> None:
    """A chunk without a commit has that of its artifact in the question's stack, else the one of all graphs."""
    read = {
        "": {"x:0.py": ("x", "v1"), "x:1.py": ("x", "A"), "x:2.py": ("x", "A")},
        "old": {"x:1.py": ("x", "A"), "x:2.py": ("x", "B")},
    }

    def read_at(artifact: str, graph: str | None) -> list[tuple[str, str]]:
        return [found[artifact] for name, found in read.items() if graph in (name, None) and artifact in found]

    known = CommitGraph.build([Commit(repo="x", sha="A", tag="v1"), commit("x", "B")], read_at=read_at)
    asked = question()

    def shas(run: Answer, stack: str | None = None) -> list[str | None]:
        return [version.sha for version in Case(question(stack=stack), run, known).versions]

    assert shas(chunks("x", "x", "x", "x")) == ["A", "A", None, None]
    assert shas(chunks("x", "x", "x", "x"), "old") == [None, "A", "B", None]
    assert shas(chunks("x@B", "x", "x@C")) == ["B", "A", "C"]
    # 0.py and 1.py are both at A, 3.py at nothing: of three pairs one fits.
    run = answer(retrieved=["x:0.py", "x:1.py", "x:3.py"])
    assert value("Coherence", asked, run, known) == pytest.approx(1 / 3)
    assert Case(asked, run, known).without_commit == (3, 2)
    assert reason("OffPin", question(commits={"x": "v1"}), run, known) == PARTLY_VERSIONED
    # What was walked is versioned where the walk says so, and else not.
    walk = answer([("x:0.py", "R", "x:1.py")])
    assert reason("OffPin", question(commits={"x": "v1"}), walk, known) == (
        "nothing retrieved or traversed carries a commit (not logged)"
    )


@pytest.mark.parametrize("measure", ["Coherence", "Incoherent", "OffPin"])
def test_missing_and_failed_records_are_unscored(measure: str, stacks: CommitGraph) -> None:
    """A missing or failed record is unscored, never 0."""
    asked = question(stack="one")
    assert reason(measure, asked, None, stacks) == "the run has no record for this question"
    assert reason(measure, asked, answer(retrieved=["x:1"], error="boom"), stacks) == "failed: boom"
