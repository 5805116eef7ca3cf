"""``graphkit git``: the history of a repository is in the graph, and reading again writes only new commits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from graphkit import evaluate, failures
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.measures.base import Unscored
from graphkit.measures.coherence import Coherence, OffPin
from graphkit.scoring.cypher_scoring import measure_values
from tests.helpers import ROOT
from tests.helpers.cli import QUESTIONS, Done, Graph, Row, inside, tiny, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.suites import one_fast

BUILD = ROOT / "fixtures" / "storefront" / "build_repos.py"
NAMES = ("api", "contracts", "infra", "orders", "schema", "web")
WHO = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: object, date: str = "2026-03-01T12:00:00+02:00") -> str:
    """Run git without the settings of the machine, and return what it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = clean | WHO | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", *map(str, arguments)], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repositories of the storefront."""
    target = tmp_path_factory.mktemp("repositories")
    subprocess.run([sys.executable, BUILD, target], check=True, capture_output=True)
    return target


@pytest.fixture
def shop(built: Path, tmp_path: Path) -> Path:
    """A copy of them."""
    return shutil.copytree(built, tmp_path / "shop", symlinks=True)


def read(graph: Graph, folder: Path, *arguments: object) -> dict[str, tuple[int, int]]:
    """Run ``graphkit git`` and return what it wrote and what was there, by repository."""
    done = inside("git", *arguments, "--json", cwd=folder, env=graph.env, code=0)
    return {row["repository"]: (row["written"], row["unchanged"]) for row in done.objects()}


def held(graph: Graph, repo: str) -> dict[str, Row]:
    """Return the commits of a repository in the graph by their sha, each with its parents there."""
    rows = graph.store.read(
        "MATCH (c:Commit {repo: $repo}) OPTIONAL MATCH (c)-[:PARENT]->(p:Commit) "
        "RETURN c.sha AS sha, c.branch AS branch, c.tag AS tag, toString(c.committed_at) AS at, "
        "collect(p.sha) AS parents",
        {"repo": repo},
    )
    return {str(row["sha"]): row for row in rows}


def logged(folder: Path, *references: str) -> dict[str, tuple[str, set[str]]]:
    """Return git's own data: sha to time and parents, for all commits that branches and tags reach."""
    lines = git(folder, "log", *(references or ("--branches", "--tags")), "--format=%H|%cI|%P").splitlines()
    return {sha: (at, set(parents.split())) for sha, at, parents in (line.split("|") for line in lines)}


def same_moment(one: Any, two: str) -> bool:
    """Return whether two texts name the same moment."""
    return datetime.fromisoformat(str(one)) == datetime.fromisoformat(two)


@pytest.mark.newest
def test_history_is_that_of_git(any_graph: Graph, shop: Path) -> None:
    """Commits, parents, times, branches and tags of six repositories agree with git log and git branch."""
    found = read(any_graph, shop, *NAMES)
    assert list(found) == list(NAMES)
    for name in NAMES:
        expected, commits = logged(shop / name), held(any_graph, name)
        assert found[name] == (len(expected), 0)
        assert set(commits) == set(expected), name
        for sha, (at, parents) in expected.items():
            assert set(commits[sha]["parents"]) == parents
            assert same_moment(commits[sha]["at"], at)
        # The chain of first parents of main is main; what only 1.x has is 1.x; a merged branch has its own.
        main = set(git(shop / name, "log", "--first-parent", "--format=%H", "main").splitlines())
        assert {sha for sha, row in commits.items() if row["branch"] == "main"} == main
        old = set(git(shop / name, "log", "--first-parent", "--format=%H", "1.x", "^main").splitlines())
        assert {sha for sha, row in commits.items() if row["branch"] == "1.x"} == old
        tags = git(shop / name, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/tags").splitlines()
        assert {f"{row['tag']} {sha}" for sha, row in commits.items() if row["tag"]} == set(tags)
    # README: 40 commits in all. The one that a force-push left behind in api belongs to no branch.
    assert sum(written for written, _ in found.values()) == 40
    assert git(shop / "api", "rev-parse", "refs/stale/coupons") not in held(any_graph, "api")


def test_merge_has_both_parents(any_graph: Graph, shop: Path) -> None:
    """A merge commit has two parents, and the merged branch keeps its name."""
    read(any_graph, shop, "orders")
    commits = held(any_graph, "orders")
    [merge] = git(shop / "orders", "log", "--merges", "--format=%H", "--branches").splitlines()
    assert len(commits[merge]["parents"]) == 2
    assert {row["branch"] for row in commits.values()} == {"main", "1.x", "refunds"}


def test_reading_again_writes_only_what_is_new(any_graph: Graph, shop: Path) -> None:
    """A second reading writes nothing; after a commit, a branch and a tag, only these are written."""
    web = shop / "web"
    [(before, _)] = read(any_graph, shop, "web").values()
    content = any_graph.content()
    assert read(any_graph, shop, "web") == {"web": (0, before)}
    assert any_graph.content() == content
    git(web, "commit", "--allow-empty", "-m", "new")
    new = git(web, "rev-parse", "HEAD")
    assert read(any_graph, shop, "web") == {"web": (1, before)}
    row = held(any_graph, "web")[new]
    assert row["parents"] == [git(web, "rev-parse", "HEAD^")]
    assert same_moment(row["at"], "2026-03-01T10:00:00+00:00")
    git(web, "tag", "v9", new)
    assert read(any_graph, shop, "web") == {"web": (1, before)}
    assert held(any_graph, "web")[new]["tag"] == "v9"


def test_text_output(graph: Graph, shop: Path) -> None:
    """Without --json, one line per repository counts the written commits; --name sets the name in the graph."""
    commits = len(logged(shop / "web"))
    done = graphkit("git", "web", "--name", "front end", cwd=shop, env=graph.env, code=0)
    assert done.out == f"front end: {commits} commits loaded, 0 there already\n"
    assert len(held(graph, "front end")) == commits
    done = graphkit("git", "web", "api", "--name", "x", cwd=shop, env=graph.env, code=2)
    assert "--name names one repository" in done.err


@pytest.mark.slow("two runs are evaluated several times")
def test_scores_from_before_the_history_are_outdated(any_graph: Graph, tmp_path: Path) -> None:
    """A new history outdates the scores by measures that need commits, and no others."""
    folder = tmp_path / "a"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    shas = []
    for number in range(2):
        git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
        shas.append(git(folder, "rev-parse", "HEAD"))
    retrieved = [{"id": f"a:{number}.py", "commit": sha} for number, sha in enumerate(shas)]
    data = tmp_path / "data"
    answers = [{"run": "r", "question_id": "q1", "retrieved": retrieved}]
    first = tiny(data, QUESTIONS[:1], answers, commits=[{"repo": "z", "sha": "0"}])
    runs = [first, write_lines(data / "runs" / "s.jsonl", [{**answers[0], "run": "s"}])]
    measures = ("-m", "Coherence", "-m", "Recall@20")
    for run in runs:
        graphkit("evaluate", *measures, run, cwd=tmp_path, env=any_graph.env, code=0)
    any_graph.store.write("MATCH (s:Score {measure: 'Recall@20'}) SET s.value = 0.25")

    def means() -> dict[str, float]:
        done = graphkit("compare", "r", "s", *measures, "--json", cwd=tmp_path, env=any_graph.env, code=0)
        return {row["measure"]: row["first"] for row in done.object()["groups"][0]["measures"]}

    # Of neither commit anything is known, so that the one pair of chunks doesn't fit. The other is what is kept.
    assert means() == {"Coherence": 0.0, "Recall@20": 0.25}
    # Both are of the branch main: the pair fits.
    read(any_graph, tmp_path, "a")
    assert means() == {"Coherence": 1.0, "Recall@20": 0.25}
    # Kept anew, the scores are those of the history, also where reading it again tells nothing new.
    for run in runs:
        graphkit("evaluate", "-m", "Coherence", run, cwd=tmp_path, env=any_graph.env, code=0)
    any_graph.store.write("MATCH (s:Score {measure: 'Coherence'}) SET s.value = 0.5")
    assert read(any_graph, tmp_path, "a") == {"a": (0, 2)}
    assert means()["Coherence"] == 0.5
    # A new tag changes what is known of a commit.
    git(folder, "tag", "v1")
    assert read(any_graph, tmp_path, "a") == {"a": (1, 1)}
    assert means()["Coherence"] == 1.0


def history(folder: Path, *tags: str) -> list[str]:
    """Make a repository with a commit for each tag, and return their shas."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    shas = []
    for tag in tags:
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{folder}: {tag}")
        git(folder, "tag", tag)
        shas.append(git(folder, "rev-parse", "HEAD"))
    return shas


NOTHING_KNOWN = "nothing is known about commits: the dataset has no commits, compatibility rows or deployments"


def test_history_is_known_to_datasets_whose_repository_it_is(any_graph: Graph, tmp_path: Path) -> None:
    """A history counts for the datasets that name its repository, except for one with foreign commits."""
    shas = history(tmp_path / "a", "v1", "v2")
    other = 40 * "f"
    asked = QUESTIONS[0]
    datasets = {
        "names": ([asked], {}),
        "at-one": ([{**asked, "commits": {"a": shas[0]}}], {}),
        "by-tag": ([{**asked, "commits": {"a": "v1"}}], {}),
        "artifacts": ([{"id": "q1", "question": "?"}], {"artifacts": [{"id": "a:0.py"}]}),
        "strangers": ([{**asked, "commits": {"a": other}}], {}),
        "elsewhere": ([{"id": "q1", "question": "?", "relevant": {"b:n.py#z": 1}}], {}),
    }
    retrieved = [{"id": f"a:{number}.py", "commit": sha} for number, sha in enumerate(shas)]
    runs = {}
    for name, (questions, files) in datasets.items():
        questions = [{**one, "id": f"{name}-{one['id']}"} for one in questions]
        answers = [{"run": name, "question_id": f"{name}-q1", "retrieved": retrieved}]
        runs[name] = tiny(tmp_path / name, questions, answers, **files)
        evaluate(runs[name], measures=["Coherence"], store=any_graph.store)
    read(any_graph, tmp_path, "a")
    for name, run in runs.items():
        # Both commits are of the branch main.
        expected = NOTHING_KNOWN if name in ("strangers", "elsewhere") else 1.0
        in_graph = measure_values(any_graph.store, name, name, Coherence())[f"{name}-q1"]
        assert (in_graph.reason if isinstance(in_graph, Unscored) else in_graph) == expected, name
        [row] = evaluate(run, measures=["Coherence"], store=any_graph.store).rows
        assert row.values == (expected,), name
        unknown = failures(any_graph.store, name, "unknown-commits")
        assert unknown == failures(any_graph.store, name, "incoherent-pairs") == []


def test_commits_are_named_by_what_a_history_tells(any_graph: Graph, tmp_path: Path) -> None:
    """Tags in a run mean their commits once the history is read; of two tags each is known."""
    one, _ = history(tmp_path / "a", "v1", "v2")
    git(tmp_path / "a", "tag", "again", one)
    whole = [{"id": "a:0.py", "commit": one}, {"id": "a:1.py", "commit": "again"}, {"id": "a:2.py", "commit": one[:7]}]
    step = {"source": "a:0.py", "target": "a:1.py", "source_commit": "v1", "target_commit": "v2"}
    questions = [
        {**QUESTIONS[0], "commits": {"a": one}},
        {**QUESTIONS[1], "commits": {"a": "again"}},
        {"id": "q3", "question": "?", "stack": "now"},
    ]
    answers = [
        {"run": "r", "question_id": "q1", "retrieved": whole},
        {"run": "r", "question_id": "q2", "retrieved": whole[:1]},
        {"run": "r", "question_id": "q3", "retrieved": [], "traversal": [step]},
    ]
    rows = [{"id": "now", "commits": {"a": "v1", "b": "x"}}]
    run = tiny(tmp_path / "data", questions, answers, compatibility=rows)
    chosen = (Coherence(), OffPin())

    def found(**given: str) -> list[tuple[float | str, ...]]:
        result = evaluate(run, measures=chosen, store=any_graph.store, **given)  # type: ignore[arg-type]
        return [row.values for row in result.rows]

    # The beginning of q1's pin is the pin, `again` is a name that nobody knows; b@x is the commit that is known.
    none = "nothing was retrieved"
    before: list[tuple[float | str, ...]] = [(1 / 3, 1.0), (1.0, 1.0), (none, 1.0)]
    assert found() == found(engine="cypher") == before
    read(any_graph, tmp_path, "a")
    # What was loaded of the run before is reported at once, also before the dataset is read again.
    assert measure_values(any_graph.store, "data", "r", Coherence())["q1"] == 1.0
    assert measure_values(any_graph.store, "data", "r", OffPin())["q1"] == 0.0
    # The walk of q3 ends at v2, which is another commit than its stack's.
    after: list[tuple[float | str, ...]] = [(1.0, 0.0), (1.0, 0.0), (none, 1.0)]
    assert found() == found(engine="cypher") == after
    assert found() == after


# Forms of repositories ---------------------------------------------------------------------------------------------


@pytest.mark.slow("a repository of its own")
def test_annotated_and_nested_tags(graph: Graph, tmp_path: Path) -> None:
    """Annotated tags, and tags of tags, belong to their commit; a tag of a file belongs to none."""
    folder = tmp_path / "tagged"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("text")
    git(folder, "add", "file")
    shas = []
    for number in range(3):
        git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
        shas.append(git(folder, "rev-parse", "HEAD"))
    git(folder, "tag", "light", shas[0])
    git(folder, "tag", "-a", "-m", "x", "annotated", shas[1])
    git(folder, "tag", "-a", "-m", "x", "inner", shas[2])
    git(folder, "tag", "-a", "-m", "x", "a-nested", "inner")
    git(folder, "tag", "-a", "-m", "x", "of-a-file", "HEAD:file")
    assert read(graph, folder, ".") == {"tagged": (3, 0)}
    tags = {sha: row["tag"] for sha, row in held(graph, "tagged").items()}
    # Of two tags of one commit the first by name.
    assert tags == {shas[0]: "light", shas[1]: "annotated", shas[2]: "a-nested"}


def test_commit_that_only_a_tag_reaches(graph: Graph, shop: Path) -> None:
    """A commit that only a tag keeps belongs to no branch."""
    web = shop / "web"
    git(web, "checkout", "-q", "--detach")
    git(web, "commit", "-q", "--allow-empty", "-m", "aside")
    aside = git(web, "rev-parse", "HEAD")
    git(web, "tag", "aside")
    git(web, "checkout", "-q", "main")
    read(graph, shop, "web", "--name", "aside")
    row = held(graph, "aside")[aside]
    assert (row["tag"], row["branch"]) == ("aside", None)


def test_bare_clone(graph: Graph, shop: Path) -> None:
    """A bare clone has the same history, and the name of its folder without .git."""
    git(shop, "clone", "-q", "--bare", "web", "bare.git")
    assert read(graph, shop, "bare.git") == {"bare": (len(logged(shop / "web")), 0)}
    assert set(held(graph, "bare")) == set(logged(shop / "web"))


@pytest.mark.slow("a clone is made and read")
def test_clone_with_remote_branches(graph: Graph, shop: Path) -> None:
    """In a clone, the branches of the remote count, under their own names."""
    git(shop, "clone", "-q", "web", "cloned")
    read(graph, shop, "cloned")
    branches = {sha: row["branch"] for sha, row in held(graph, "cloned").items()}
    assert {name for name in branches.values() if name} == {"main", "1.x"}
    assert branches[git(shop / "web", "rev-parse", "1.x")] == "1.x"


def test_folder_inside_a_repository(graph: Graph, shop: Path) -> None:
    """A folder inside a work tree stands for the repository around it."""
    assert list(read(graph, shop, "web/src")) == ["web"]


def test_history_as_a_file(shop: Path) -> None:
    """-o writes what git itself says into commits.jsonl, without a database, and a dataset reads it."""
    folder = tiny(shop / "data").parent.parent
    done = inside("git", "api", "web", "-o", "data/commits.jsonl", "--json", cwd=shop, code=0)
    assert not (shop / ".graphkit").exists()
    expected = {name: logged(shop / name) for name in ("api", "web")}
    assert [(row["repository"], row["written"], row["shallow"]) for row in done.objects()] == [
        (name, len(commits), False) for name, commits in expected.items()
    ]
    read_back = Dataset(folder).commits(Problems())
    for name, commits in expected.items():
        own = {
            one.sha: (one.committed_at.isoformat(), {*one.parents})
            for one in read_back
            if one.repo == name and one.committed_at
        }
        assert own.keys() == commits.keys()
        assert all(
            same_moment(at, commits[sha][0]) and parents == commits[sha][1] for sha, (at, parents) in own.items()
        )
    git(shop, "clone", "-q", "--depth", "1", f"file://{shop}/api", "other/api")
    twice = inside("git", "api", "other/api", "-o", "new.jsonl", cwd=shop, code=2)
    assert "two repositories are called 'api'" in twice.err
    assert not (shop / "new.jsonl").exists()
    cut = inside("git", "other/api", "-o", "new.jsonl", cwd=shop, code=0)
    assert "note: other/api is a shallow clone, so its history is cut" in cut.err


def test_shallow_clone(graph: Graph, shop: Path) -> None:
    """A shallow clone gives its own commits; a later complete reading adds and links the others."""
    git(shop, "clone", "-q", "--depth", "2", f"file://{shop}/api", "shallow")
    few = logged(shop / "shallow", "--branches", "--remotes", "--tags")
    everything = logged(shop / "api")
    assert 0 < len(few) < len(everything)
    assert read(graph, shop, "shallow") == {"shallow": (len(few), 0)}
    assert set(held(graph, "shallow")) == set(few)
    assert read(graph, shop, "shallow") == {"shallow": (0, len(few))}
    read(graph, shop, "api", "--name", "shallow")
    commits = held(graph, "shallow")
    assert {sha: set(row["parents"]) for sha, row in commits.items()} == {
        sha: parents for sha, (_, parents) in everything.items()
    }


def test_empty_repository(graph: Graph, tmp_path: Path) -> None:
    """A repository without commits is read."""
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    assert read(graph, tmp_path, "empty") == {"empty": (0, 0)}


def refused(graph: Graph, folder: Path, *arguments: object) -> Done:
    """Run ``graphkit git``, which must end with 2 and leave the graph as it was."""
    before = graph.content()
    done = inside("git", *arguments, cwd=folder, env=graph.env, code=2)
    assert graph.content() == before
    return done


def test_what_is_no_repository(graph: Graph, tmp_path: Path) -> None:
    """A folder outside any repository, a file and a missing path are reported by name."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    for name in ("folder", "file", "nowhere"):
        done = refused(graph, tmp_path, name)
        assert f"error: {name}: this is no git repository" in done.err
        assert "local clone" in done.err


def test_mistake_in_the_second_repository(graph: Graph, shop: Path) -> None:
    """If one of several paths isn't a repository, none of them is read."""
    refused(graph, shop, "schema", "nowhere")


@pytest.mark.slow("a repository is copied, damaged and read")
def test_damaged_object(graph: Graph, shop: Path) -> None:
    """An object that can't be unpacked is reported as damaged."""
    sha = git(shop / "contracts", "rev-parse", "main~1")
    spoiled = shop / "contracts" / ".git" / "objects" / sha[:2] / sha[2:]
    spoiled.chmod(0o644)
    spoiled.write_bytes(b"spoiled")
    done = refused(graph, shop, "contracts", "--name", "damaged")
    assert "contracts: the repository holds a damaged object" in done.err
    assert "Clone it again." in done.err


@one_fast(
    ("stamp", "at"),
    [
        ("1700000000 +0530", "2023-11-15T03:43:20+05:30"),
        ("1700000000 +51800", "2023-11-14T22:13:20+00:00"),
        ("1700000000 +1801", "2023-11-14T22:13:20+00:00"),
        ("1700000000 -1800", "2023-11-14T22:13:20+00:00"),
        ("99999999999999 +0000", None),
    ],
    "a repository for each time",
    0,
)
def test_times_of_old_tools(stamp: str, at: str | None, graph: Graph, tmp_path: Path) -> None:
    """An impossible offset, or a time beyond the calendar, is dropped; the commit is kept."""
    name = f"odd {stamp}"
    folder = tmp_path / name
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    tree = git(folder, "hash-object", "-w", "-t", "tree", "/dev/null")
    (folder / "commit").write_text(f"tree {tree}\nauthor x <x> {stamp}\ncommitter x <x> {stamp}\n\nold\n")
    sha = git(folder, "hash-object", "-w", "-t", "commit", "--literally", "commit")
    git(folder, "update-ref", "refs/heads/main", sha)
    assert read(graph, tmp_path, name) == {name: (1, 0)}
    found = held(graph, name)[sha]["at"]
    assert same_moment(found, at) if at else found is None


def test_name_that_can_not_be_stored(graph: Graph, shop: Path) -> None:
    """A name that is too long, or isn't UTF-8, is refused before anything is written."""
    for name, reported in ((1001 * "x", "the name has 1001 characters, and may have 1000"), ("\udcff", "isn't UTF-8")):
        assert reported in refused(graph, shop, "web", "--name", name).err


@pytest.mark.slow("a repository is copied, damaged and read")
def test_damaged_repository(graph: Graph, shop: Path) -> None:
    """A missing object is reported, and nothing of the repository is written."""
    contracts = shop / "contracts"
    lost = git(contracts, "rev-parse", "main~2")
    (contracts / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    done = refused(graph, shop, "contracts", "--name", "damaged")
    assert "contracts: the repository lacks the object" in done.err
    assert lost in done.err
    assert "git fsck" in done.err
