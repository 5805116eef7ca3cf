"""Gold follows its files and symbols through a git repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.git import open_repository
from graphkit.plugins.gold import renames
from graphkit.plugins.gold.migration import migration
from tests.graph.test_git_history import git
from tests.helpers.cli import Row, inside
from tests.helpers.migrations import CODE, Clone, data, found, migrate, proposed, question, rows


def test_a_renamed_file(web: Clone, tmp_path: Path) -> None:
    """All names of a file in the gold are one change, which is certain if the content is the same."""
    pin = web.commit()
    web.move("src/auth.py", "lib/session.py")
    new = web.commit()
    asked = {
        "id": "q1",
        "question": "Who?",
        "gold_paths": [
            {"steps": [{"source": "web:src/auth.py#login", "relation": "web:src/auth.py", "target": "api:a.py"}]},
            [["web:src/auth.py#logout", "CALLS", "web:src/other.py"]],
            ["web:src/auth.py", "api:a.py", "web:src/other.py"],
        ],
        "relevant": [{"id": "web:src/auth.py", "gain": 2}, "api:a.py"],
        "expected_files": ["web/src/auth.py", "api/a.py"],
        "commits": {"web": pin, "api": "1"},
        "mine": "kept",
    }
    folder = data(tmp_path, asked)
    one = found(folder, web)
    assert proposed(one) == [("web:src/auth.py", "web:lib/session.py", f"renamed at {new[:10]}, 100 % similar", True)]
    assert one.apply([one.changes[0].candidates[0]]) == (["q1"], {})
    # The relation is a text like another, and stays.
    assert json.loads((folder / "questions.jsonl").read_text()) == {
        **asked,
        "gold_paths": [
            {"steps": [{"source": "web:lib/session.py#login", "relation": "web:src/auth.py", "target": "api:a.py"}]},
            [["web:lib/session.py#logout", "CALLS", "web:src/other.py"]],
            ["web:lib/session.py", "api:a.py", "web:src/other.py"],
        ],
        "relevant": [{"id": "web:lib/session.py", "gain": 2}, "api:a.py"],
        "expected_files": ["web/lib/session.py", "api/a.py"],
        "commits": {"web": new, "api": "1"},
    }
    # It is at the target now.
    again = found(folder, web)
    assert (again.changes, again.unmoved, again.skipped) == ([], 0, {})


def test_a_file_that_is_renamed_twice_and_changed(web: Clone, tmp_path: Path) -> None:
    """Each rename is found in its commit, even on a merged branch, with the share of equal bytes."""
    pin = web.commit()
    git(web.folder, "switch", "-q", "-c", "side")
    web.move("src/auth.py", "src/b.py")
    # 40 lines, of which one in the middle is another.
    web.write("src/b.py", CODE.replace("# line 9\n", "# LINE 9\n"))
    first = web.commit()
    git(web.folder, "switch", "-q", "main")
    web.write("src/other.py", "def other(): ...\n")
    web.commit()
    git(web.folder, "merge", "-q", "--no-edit", "side")
    web.write("src/b.py", "def login(): ...\n" + "# new\n" * 60)
    web.commit()
    web.move("src/b.py", "src/ü b.py")
    second = web.commit()
    git(web.folder, "tag", "v2")
    web.move("src/ü b.py", "later.py")
    web.commit()
    one = found(data(tmp_path, question(pin[:12], "web:src/auth.py#login", "api:x")), web, "v2")
    # Of both files' bytes all but the 9 of that line are shared.
    share = 100 * (len(CODE) - 9) // len(CODE)
    why = f"renamed at {first[:10]}, {share} % similar, then renamed at {second[:10]}, 100 % similar"
    assert proposed(one) == [("web:src/auth.py", "web:src/ü b.py", why, False)]


def test_a_file_that_a_merge_renames(web: Clone, tmp_path: Path) -> None:
    """A rename in a merge commit is found."""
    pin = web.commit()
    git(web.folder, "switch", "-q", "-c", "side")
    web.write("side.py", "1\n")
    web.commit()
    git(web.folder, "switch", "-q", "main")
    web.write("main.py", "2\n")
    web.commit()
    git(web.folder, "merge", "-q", "--no-commit", "side")
    web.move("src/auth.py", "src/b.py")
    merge = web.commit()
    web.write("src/b.py", "all else\n")
    web.commit()
    one = found(data(tmp_path, question(pin, "web:src/auth.py", "api:x")), web)
    why = f"renamed at {merge[:10]}, 100 % similar"
    assert proposed(one) == [("web:src/auth.py", "web:src/b.py", why, False)]


def test_the_share_is_that_of_git(web: Clone) -> None:
    """The similarity equals that of git, to within a hundredth."""
    web.commit()
    web.move("src/auth.py", "src/b.py")
    web.write("src/b.py", CODE.replace("# line 1", "# Line 1"))
    web.commit()
    said = git(web.folder, "diff", "-M", "--name-status", "HEAD~1", "HEAD").split()[0]
    contents = [git(web.folder, "show", name).encode() + b"\n" for name in ("HEAD~1:src/auth.py", "HEAD:src/b.py")]
    assert abs(renames.similarity(*contents) - int(said.removeprefix("R"))) <= 1


def test_deleted_files_keep_a_question_as_it_was(web: Clone, tmp_path: Path) -> None:
    """A question that names something deleted stays unchanged; another one changes."""
    pin = web.commit()
    web.move("src/auth.py", "src/b.py")
    (web.folder / "src" / "other.py").unlink()
    gone = web.commit()
    both = question(pin, "web:src/auth.py#login", "web:src/other.py#other")
    folder = data(tmp_path, both, {**question(pin, "web:src/auth.py", "api:x"), "id": "q2"})
    one = found(folder, web)
    assert [(each.name, each.why, each.questions) for each in one.gone] == [
        ("web:src/other.py#other", f"deleted at {gone[:10]}", ("q1",))
    ]
    assert [change.questions for change in one.changes] == [("q1", "q2")]
    accepted = [each for change in one.changes for each in change.candidates]
    assert one.apply(accepted) == (["q2"], {"q1": ["web:src/other.py#other"]})
    first, second = map(json.loads, (folder / "questions.jsonl").read_text().splitlines())
    assert first == both
    assert (second["paths"], second["commits"]) == ([["web:src/b.py", "api:x"]], {"web": gone})


def test_equal_files_are_not_certain(web: Clone, tmp_path: Path) -> None:
    """If two files with one content were moved, no match is certain."""
    web.write("a/__init__.py", "# empty\n")
    web.write("b/__init__.py", "# empty\n")
    pin = web.commit()
    web.move("a/__init__.py", "c/__init__.py")
    web.move("b/__init__.py", "d/__init__.py")
    web.commit()
    one = found(data(tmp_path, question(pin, "web:a/__init__.py", "web:b/__init__.py")), web)
    assert [certain for *_, certain in proposed(one)] == [False, False]


def test_a_symbol_in_another_file(web: Clone, tmp_path: Path) -> None:
    """A symbol that its file lost may be where the target's artifacts have it, which is never certain."""
    pin = web.commit()
    web.write("src/auth.py", CODE.replace("def login(user):\n    return user\n", ""))
    web.write("src/entry.py", "def login(user):\n    return user\n")
    new = web.commit()
    artifacts = [
        {"id": "web:src/entry.py#login", "commit": new},
        {"id": "web:src/auth.py#logout", "commit": new[:9]},
        {"id": "web:old.py#login", "commit": pin},
        {"id": "api:x.py#login", "commit": new},
    ]
    folder = data(tmp_path, question(pin, "web:src/auth.py#login", "web:src/auth.py#logout"), artifacts=artifacts)
    why = "the dataset's artifacts have this symbol there"
    one = found(folder, web)
    assert proposed(one) == [("web:src/auth.py#login", "web:src/entry.py#login", why, False)]
    assert one.apply([one.changes[0].candidates[0]]) == (["q1"], {})
    written = json.loads((folder / "questions.jsonl").read_text())
    assert written["paths"] == [["web:src/entry.py#login", "web:src/auth.py#logout"]]


def test_a_symbol_that_may_be_in_several_files(web: Clone, tmp_path: Path) -> None:
    """If artifacts have a symbol elsewhere and its file has the word, both places are proposed."""
    pin = web.commit()
    web.write("src/entry.py", "def login(user):\n    return user\n")
    new = web.commit()
    artifacts = [{"id": "web:src/entry.py#login", "commit": new}, {"id": "web:src/auth.py#logout", "commit": new}]
    folder = data(tmp_path, question(pin, "web:src/auth.py#login", "web:src/other.py#other"), artifacts=artifacts)
    one = found(folder, web)
    [change] = one.changes
    assert [each.new for each in change.candidates] == ["web:src/entry.py#login", "web:src/auth.py#login"]
    assert one.apply([change.candidates[1]]) == (["q1"], {})
    written = json.loads((folder / "questions.jsonl").read_text())
    assert written["paths"] == [["web:src/auth.py#login", "web:src/other.py#other"]]
    assert written["commits"] == {"web": new}


def test_names_in_other_forms(tmp_path: Path) -> None:
    """A path named like its repository, a file without one, and disagreeing sources all follow."""
    clone = Clone(tmp_path / "a")
    clone.write("a", "1\n2\n3\n")
    pin = clone.commit()
    clone.move("a", "b")
    new = clone.commit()
    more = {"expected_files": ["a", "a/a", "c"], "conflicts": [{"between": ["a:a", "a: what it says"]}]}
    asked = {"id": "q1", "question": "?", "relevant": {"a:a": 1}, "commits": {"a": pin}, **more}
    folder = data(tmp_path, asked)
    with open_repository(clone.folder) as repository:
        one = migration(Dataset(folder), {"a": ("a", repository)}, {"a": "HEAD"})
    assert one.gone == []
    assert one.apply([one.changes[0].candidates[0]]) == (["q1"], {})
    assert json.loads((folder / "questions.jsonl").read_text()) == {
        **asked,
        "relevant": {"a:b": 1},
        "expected_files": ["b", "a/b", "c"],
        "conflicts": [{"between": ["a:b", "a: what it says"]}],
        "commits": {"a": new},
    }


def test_a_symbol_that_is_gone(web: Clone, tmp_path: Path) -> None:
    """Without artifacts of the target, the text shows that a symbol left its file."""
    pin = web.commit()
    web.move("src/auth.py", "src/b.py")
    web.write("src/b.py", CODE.replace("login", "sign_in"))
    web.commit()
    one = found(data(tmp_path, question(pin, "web:src/auth.py#login", "web:src/auth.py#logout")), web)
    assert [(each.name, each.why) for each in one.gone] == [
        ("web:src/auth.py#login", "src/b.py no longer contains login")
    ]
    [change] = one.changes
    assert change.candidates[0].renames == {"web:src/auth.py#logout": "web:src/b.py#logout"}


def test_what_is_not_looked_at(web: Clone, tmp_path: Path) -> None:
    """Questions without a pin, at the target, after it, or with nothing moved are reported; a stack pins too."""
    first = web.commit()
    git(web.folder, "switch", "-q", "-c", "side")
    aside = web.commit()
    git(web.folder, "switch", "-q", "main")
    web.move("src/auth.py", "src/b.py")
    target = web.commit()
    git(web.folder, "switch", "-q", "-c", "later")
    newer = web.commit()
    git(web.folder, "switch", "-q", "main")
    names = ("web:src/auth.py", "api:x")
    questions = [
        {**question(first, *names), "id": "unpinned", "commits": {}},
        {
            **question(first, *names),
            "id": "sided",
            "paths": [{"commits": {"web": first}, "steps": [[names[0], "R", names[1]]]}],
        },
        {**question(newer, *names), "id": "newer"},
        {**question(aside, *names), "id": "aside"},
        {**question(target, "web:src/b.py", "api:x"), "id": "there"},
        {**question(first, "web:src/other.py", "api:x"), "id": "unmoved"},
        {**question(first, "api:y", "api:x"), "id": "elsewhere"},
        {**question(first, *names), "id": "stacked", "commits": {}, "stack": "s"},
        {**question(first, "web:no/such.py", "api:x"), "id": "strange"},
    ]
    one = found(data(tmp_path, *questions, compatibility=[{"id": "s", "commits": {"web": first}}]), web)
    assert one.skipped == {
        "unpinned": ["it isn't pinned in web: the commit of its annotation is unknown"],
        "newer": [f"web is pinned to {newer[:10]}, which is newer than {target[:10]}"],
    }
    # The commit of another branch is followed, too.
    assert [change.questions for change in one.changes] == [("sided", "stacked"), ("aside",)]
    assert [(each.questions, each.why) for each in one.gone] == [
        (("strange",), f"there is no file no/such.py at {first[:10]}")
    ]
    assert one.unmoved == 1


def two_sides(old: str, new: str, **more: object) -> Row:
    """Return a question about two versions of web, whose gold is one edge at each."""
    steps = [["web:src/auth.py#login", "CALLS", "web:src/other.py"]]
    paths = [{"commits": {"web": one}, "steps": steps} for one in (old, new)]
    return {"id": "q1", "question": "?", "paths": paths, "relevant": {"web:src/auth.py": 2}, **more}


def test_a_side_moves_by_itself(web: Clone, tmp_path: Path) -> None:
    """Of two versions the named one follows its file; the other one, and what both name, stays."""
    first = web.commit()
    git(web.folder, "tag", "v1")
    web.write("src/other.py", "def other(): return login\n")
    second = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    target = web.commit()
    folder = data(tmp_path, two_sides("v1", second, expected_files=["web/src/auth.py"], commits={"api": "1"}))
    one = found(folder, web)
    several = f"its paths are about several commits of web ({second[:10]}, v1)"
    assert one.skipped == {"q1": [f"{several}: name the one to move by --to web=FROM..COMMIT"]}
    assert one.changes == []
    done = migrate(tmp_path, "--to", f"web={second[:8]}..HEAD", "--yes", "--json")
    assert done.object()["changed"] == ["q1"]
    [written] = rows(folder)
    assert written["paths"] == [
        {"commits": {"web": "v1"}, "steps": [["web:src/auth.py#login", "CALLS", "web:src/other.py"]]},
        {"commits": {"web": target}, "steps": [["web:lib/auth.py#login", "CALLS", "web:src/other.py"]]},
    ]
    assert written["relevant"] == {"web:lib/auth.py": 2, "web:src/auth.py": 2}
    assert written["expected_files"] == ["web/lib/auth.py", "web/src/auth.py"]
    assert written["commits"] == {"api": "1"}
    # Now a path is at the target: nothing is to be done, and v1 can't become the same version.
    again = found(folder, web)
    assert (again.changes, again.skipped) == ([], {})
    why = f"a path of it is about {target[:10]} of web already, so another one can't move there"
    assert found(folder, web, f"{first}..HEAD").skipped == {"q1": [why]}


def test_a_side_whose_file_is_gone_stays(web: Clone, tmp_path: Path) -> None:
    """What can't be moved is named: a deleted file of the moving side, and a field that would need both names."""
    first = web.commit()
    second = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    moved = web.commit()
    asked = two_sides(first, second, evidence_sets=[["web:src/auth.py"]])
    folder = data(tmp_path, asked)
    one = found(folder, web, f"{second}..HEAD")
    changed = [each for change in one.changes for each in change.candidates]
    both = "evidence_sets (web:src/auth.py, web:src/auth.py#login at both versions)"
    assert one.apply(changed) == ([], {"q1": [both]})
    (web.folder / "src" / "other.py").unlink()
    gone = web.commit()
    one = found(folder, web, f"{second}..HEAD")
    assert [(each.name, each.why) for each in one.gone] == [("web:src/other.py", f"deleted at {gone[:10]}")]
    assert one.apply([each for change in one.changes for each in change.candidates])[0] == []
    assert rows(folder) == [asked]
    # The older side moves as well, to where its files still are.
    one = found(folder, web, f"{first}..{moved}")
    assert [change.pin for change in one.changes] == [first]


def test_a_path_without_commits_moves_with_its_question(web: Clone, tmp_path: Path) -> None:
    """Its version is that of the question, whose commit then changes; the other path keeps its own."""
    first = web.commit()
    second = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    target = web.commit()
    asked = two_sides(first, second, commits={"web": second})
    del asked["paths"][1]["commits"]
    folder = data(tmp_path, asked)
    one = found(folder, web, f"{second}..HEAD")
    assert one.apply([each for change in one.changes for each in change.candidates]) == (["q1"], {})
    [written] = rows(folder)
    assert (written["commits"], written["paths"][0]) == ({"web": target}, asked["paths"][0])
    assert written["paths"][1] == {"steps": [["web:lib/auth.py#login", "CALLS", "web:src/other.py"]]}


def test_an_unknown_commit_leaves_out_its_questions_alone(web: Clone, tmp_path: Path) -> None:
    """Questions at a commit that the clone lacks are skipped with that reason; the others follow."""
    pin = web.commit()
    web.move("src/auth.py", "src/b.py")
    web.commit()
    unknown = {**question("0" * 40, "web:src/auth.py", "api:x"), "id": "unknown"}
    asked = [unknown, question(pin, "web:src/auth.py", "api:x"), {**unknown, "id": "too"}]
    folder = data(tmp_path, *asked)
    done = migrate(tmp_path, "--yes", "--json")
    why = f"it is pinned to '{'0' * 40}' in web, and web has no such commit"
    assert done.object()["left_out"] == {"unknown": [why], "too": [why]}
    assert done.object()["changed"] == ["q1"]
    assert f"skipped: too: {why}" in done.err
    assert [rows(folder)[0], rows(folder)[2]] == [unknown, asked[2]]


def test_arguments_of_expected_calls_follow_their_files(web: Clone, tmp_path: Path) -> None:
    """A path that is a whole argument of an expected call follows, in both forms; other texts stay."""
    pin = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    new = web.commit()
    given = {"path": "src/auth.py", "all": ["web:src/auth.py#login", {"of": "src/other.py"}], "why": "see src/auth.py"}
    calls: list[Row] = [
        {"name": "read", "arguments": given},
        {"name": "any"},
        {"type": "function", "function": {"name": "read", "arguments": json.dumps(given)}},
        {"function": {"name": "odd", "arguments": '{ "kept":1}'}},
    ]
    asked = {**question(pin, "web:src/auth.py", "web:src/other.py"), "expected_tools": calls}
    folder = data(tmp_path, asked)
    one = found(folder, web)
    assert one.apply([one.changes[0].candidates[0]]) == (["q1"], {})
    followed = {**given, "path": "lib/auth.py", "all": ["web:lib/auth.py#login", {"of": "src/other.py"}]}
    written = rows(folder)[0]
    assert (written["commits"], written["paths"]) == ({"web": new}, [["web:lib/auth.py", "web:src/other.py"]])
    assert written["expected_tools"][:2] == [{"name": "read", "arguments": followed}, {"name": "any"}]
    assert json.loads(written["expected_tools"][2]["function"]["arguments"]) == followed
    assert written["expected_tools"][3] == calls[3]


def test_a_bare_path_of_a_call_is_of_the_only_repository(web: Clone, tmp_path: Path) -> None:
    """If gold names two repositories, a bare path is ambiguous."""
    pin = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    web.commit()
    calls = [{"name": "read", "arguments": {"path": "src/auth.py"}}]
    folder = data(tmp_path, question(pin, "web:src/auth.py", "api:x", expected_tool_calls=calls))
    one = found(folder, web)
    one.apply([one.changes[0].candidates[0]])
    assert rows(folder)[0]["expected_tool_calls"] == calls


def test_mistakes_are_reported(web: Clone, tmp_path: Path) -> None:
    """A missing commit or repository is reported, and a name that looks like an option is a name."""
    pin = web.commit()
    folder = data(tmp_path, question(pin, "web:src/auth.py", "api:x"))
    with pytest.raises(InputError, match="no commit 'v9'"):
        found(folder, web, "v9")
    # Where no question's commit is known, it is another repository.
    with pytest.raises(InputError, match="no commit '--output=x'"):
        found(data(tmp_path, question("--output=x", "web:src/auth.py", "api:x")), web)
    with (
        open_repository(web.folder) as repository,
        pytest.raises(InputError, match="names the repository 'wbe'") as caught,
    ):
        migration(Dataset(folder), {"wbe": (str(web.folder), repository)}, {"wbe": "HEAD"})
    assert "Did you mean web?" in str(caught.value)


def test_a_shallow_clone_is_reported(web: Clone, tmp_path: Path) -> None:
    """A clone without the pinned commit is an error."""
    pin = web.commit()
    web.move("src/auth.py", "src/b.py")
    web.commit()
    git(tmp_path, "clone", "-q", "--depth=1", web.folder.as_uri(), "shallow")
    folder = data(tmp_path, question(pin, "web:src/auth.py", "api:x"))
    done = inside("gold", "migrate", folder, "--repo", "web=shallow", "--dry-run", cwd=tmp_path, code=2)
    assert f"shallow, to which q1 is pinned: the repository has no commit '{pin}'" in done.err
