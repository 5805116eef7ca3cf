"""Baselines on a branch of a git repository, whose working tree and index nothing here touches."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from graphkit.errors import InputError
from graphkit.files.git import git_errors, open_repository
from graphkit.files.leftovers import held_folder
from graphkit.plugins.ci.baselines import FIRST, NoBaselineError, checked_name

if TYPE_CHECKING:
    from dulwich.objects import ObjectID
    from dulwich.refs import Ref
    from dulwich.repo import Repo

#: The branch that keeps baselines if none is named.
BRANCH = "graphkit-baseline"

#: Git may wait so long for a remote repository.
SECONDS = 300


def _opened(repository: Path) -> Repo:
    try:
        return open_repository(repository)
    except InputError as error:
        remedy = "Run it in a clone, or keep baselines in a folder (`--baseline folder:DIR`, `save --folder DIR`)."
        raise InputError(error.what, where=error.where, remedy=remedy) from None


def save_on_branch(packed_folder: Path, repository: Path, branch: str, name: str) -> str:
    """Commit a packed baseline to a branch, in place of the former one of its name; return the commit.

    The branch is begun without a parent if it isn't there. Neither the working tree nor the index is touched.
    """
    from dulwich.objects import Blob, Commit, Tree

    checked_name(name)
    with closing(_opened(repository)) as repo, git_errors(str(repository)):
        ref, parent = cast("Ref", f"refs/heads/{checked_branch(branch)}".encode()), _tip(repo, branch)
        before = _ref(repo, ref)
        root = Tree() if parent is None else repo[repo[parent].tree]  # type: ignore[attr-defined]

        def added(folder: Path) -> ObjectID:
            tree = Tree()
            for path in sorted(folder.iterdir()):
                if path.is_dir():
                    tree.add(path.name.encode(), 0o040000, added(path))
                else:
                    blob = Blob.from_string(path.read_bytes())
                    repo.object_store.add_object(blob)
                    tree.add(path.name.encode(), 0o100644, blob.id)
            repo.object_store.add_object(tree)
            return tree.id

        root[name.encode()] = (0o040000, added(packed_folder))  # type: ignore[index]
        repo.object_store.add_object(root)
        commit = Commit()
        commit.tree, commit.parents = root.id, [] if parent is None else [parent]
        who = _identity(repo)
        commit.author = commit.committer = who
        commit.commit_time = commit.author_time = int(datetime.now(UTC).timestamp())
        commit.commit_timezone = commit.author_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = f"Save the baseline {name}\n".encode()
        repo.object_store.add_object(commit)
        if not repo.refs.set_if_equals(ref, before, commit.id):
            what = f"the branch {branch} was changed meanwhile"
            raise InputError(what, where=str(repository), remedy="Nothing was saved; run it again.")
    return str(commit.id.decode("ascii"))


@contextmanager
def from_branch(repository: Path, branch: str, name: str) -> Iterator[Path]:
    """Yield a temporary folder with a baseline of a branch; raise InputError if there is none."""
    from dulwich.objects import Blob, Tree

    checked_name(name)
    with closing(_opened(repository)) as repo, git_errors(str(repository)), held_folder() as folder:
        tip = _tip(repo, branch)
        root = None if tip is None else repo[repo[tip].tree]  # type: ignore[attr-defined]
        if not isinstance(root, Tree) or name.encode() not in root:
            raise NoBaselineError(
                f"the branch {branch} holds no baseline {name!r}", where=str(repository), remedy=FIRST
            )

        def write(identifier: ObjectID, place: Path, depth: int = 0) -> None:
            place.mkdir(exist_ok=True)
            for entry in repo[identifier].items():  # type: ignore[attr-defined]
                part, found = entry.path.decode("utf-8", "surrogateescape"), repo[entry.sha]
                if "/" in part or part in ("..", "."):
                    continue
                if isinstance(found, Tree) and depth < 2:
                    write(entry.sha, place / part, depth + 1)
                elif isinstance(found, Blob) and entry.mode == 0o100644:
                    (place / part).write_bytes(found.as_raw_string())

        write(root[name.encode()][1], folder / name)
        yield folder / name


def checked_branch(branch: str) -> str:
    """Return the name of a branch; raise InputError for one that git wouldn't take."""
    from dulwich.refs import check_ref_format

    if branch.startswith("-") or not check_ref_format(f"refs/heads/{branch}".encode()):  # type: ignore[arg-type]
        raise InputError(f"no branch can be called {branch!r}", where="--branch")
    return branch


def fetch_branch(repository: Path, branch: str) -> None:
    """Fetch a branch of the remote repository ``origin``, if there is one; a branch that it lacks stays away.

    The history of a shallow clone stays shallow, and that of a whole one whole.
    """
    with closing(_opened(repository)) as repo:
        if (b"remote", b"origin") not in list(repo.get_config().sections()):
            return
        shallow = ["--depth=1"] if repo.get_shallow() else []
    ref = f"refs/remotes/origin/{checked_branch(branch)}"
    done = _git(repository, "ls-remote", "--exit-code", "origin", f"refs/heads/{branch}", allowed=(2,))
    if done.returncode == 0:
        _git(repository, "fetch", "--quiet", "--no-tags", *shallow, "origin", f"+refs/heads/{branch}:{ref}")


def push_branch(repository: Path, branch: str) -> None:
    """Push a branch to ``origin``; raise InputError if it refuses."""
    _git(repository, "push", "--quiet", "origin", f"refs/heads/{checked_branch(branch)}:refs/heads/{branch}")


def _git(repository: Path, *arguments: str, allowed: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    # No code of the repository runs: its hooks are left out.
    words = ["git", "-c", "core.hooksPath=/dev/null", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except FileNotFoundError:
        raise InputError("git isn't installed", remedy="Install git, or use --folder.") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"git {arguments[0]} takes longer than {SECONDS} s", where=str(repository)) from None
    if done.returncode not in (0, *allowed):
        why = done.stderr.strip().splitlines()
        raise InputError(f"git {arguments[0]} failed: {why[-1] if why else done.returncode}", where=str(repository))
    return done


def _tip(repo: Repo, branch: str) -> ObjectID | None:
    """Return the commit of a branch: that of ``origin`` if it was fetched, else the local one; None without either.

    A local branch that goes on from the fetched one is the later of the two.
    """
    names = (cast("Ref", f"refs/{kind}/{branch}".encode()) for kind in ("remotes/origin", "heads"))
    there, here = (_ref(repo, name) for name in names)
    if there is None or here is None:
        return here if there is None else there
    return here if _goes_on(repo, here, there) else there


def _ref(repo: Repo, name: Ref) -> ObjectID | None:
    try:
        return repo.refs[name]
    except KeyError:
        return None


def _goes_on(repo: Repo, later: ObjectID, earlier: ObjectID) -> bool:
    return any(entry.commit.id == earlier for entry in repo.get_walker(include=[later]))


def _identity(repo: Repo) -> bytes:
    config = repo.get_config_stack()
    try:
        return b"%s <%s>" % (config.get((b"user",), b"name"), config.get((b"user",), b"email"))
    except KeyError:
        return b"graphkit <graphkit@localhost>"
