"""Finds out whether files were kept, renamed or deleted between two commits of a git repository."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.files.git import git_errors

if TYPE_CHECKING:
    from dulwich.objects import Commit as GitCommit
    from dulwich.repo import Repo

#: The least similarity of a renamed file in percent, as in git.
THRESHOLD = 50

#: The number of shown digits of a sha.
SHORT = 10


@dataclass(frozen=True, slots=True)
class Fate:
    """The new place of a file.

    Attributes
    ----------
    path
        The new path; None if the file is gone.
    why
        The evidence; empty for a kept file.
    doubt
        Why it may be another file; None for a kept file, and if only this new path has the same content.
    """

    path: str | None
    why: str = ""
    doubt: str | None = None


class Between:
    """Two commits of a repository.

    Raise InputError if the repository lacks a commit, or is damaged.

    ``old`` and ``new`` name commits by shas, unambiguous prefixes of them, tags or branches.
    """

    def __init__(self, repository: Repo, old: str, new: str, where: str) -> None:
        self._repository = repository
        self._where = where
        self._old, self._new = (commit_of(repository, name, where) for name in (old, new))

    @property
    def sha(self) -> str:
        """The sha of the newer commit."""
        return str(self._new.id.decode())

    @property
    def same(self) -> bool:
        """Whether they are one commit."""
        return bool(self._old.id == self._new.id)

    def is_backward(self) -> bool:
        """Return whether the new commit is in the history of the old one."""
        from dulwich.graph import can_fast_forward

        with git_errors(self._where):
            return can_fast_forward(self._repository, self._new.id, self._old.id)

    def text(self, path: str, new: bool) -> str | None:
        """Return the text of a file at the new or the old commit, or None if there is no such file."""
        with git_errors(self._where):
            blob = self._blob(self._new if new else self._old, path.encode())
            return None if blob is None else self._content(blob).decode("utf-8", "replace")

    def fates(self, paths: Iterable[str]) -> dict[str, Fate]:
        """Return the new places of files that exist at the old commit.

        Each rename is found in its own commit, so that later changes of the content don't matter, and otherwise by
        comparing both commits.

        Raise InputError if the repository lacks an object, or is damaged.
        """
        with git_errors(self._where):
            there = [path for path in paths if self._blob(self._old, path.encode()) is not None]
            kept = {path: Fate(path) for path in there if self._blob(self._new, path.encode()) is not None}
            gone = [path for path in there if path not in kept]
            return {**kept, **self._followed(gone)} if gone else kept

    def _followed(self, paths: list[str]) -> dict[str, Fate]:
        now = {path: path.encode() for path in paths}
        whys: dict[str, list[str]] = {path: [] for path in paths}
        walker = self._repository.get_walker(include=[self._new.id], exclude=[self._old.id], order="topo", reverse=True)
        for entry in walker:
            commit = entry.commit
            if not commit.parents:
                continue
            # A merge is compared with its first parent; its other commits are visited themselves.
            before = self._repository[commit.parents[0]].tree  # type: ignore[attr-defined]
            renamed, deleted = self._changes(before, commit.tree, set(now.values()))
            for path, at in now.items():
                at_commit = commit.id.decode()[:SHORT]
                if at in renamed:
                    now[path], share = renamed[at]
                    whys[path].append(f"renamed at {at_commit}, {share} % similar")
                elif at in deleted:
                    whys[path].append(f"deleted at {at_commit}")
        twins = self._twins()
        return {path: self._fate(path, now[path], whys[path], twins) for path in paths}

    def _fate(self, path: str, now: bytes, whys: list[str], twins: Counter[bytes]) -> Fate:
        if self._blob(self._new, now) is None:
            direct, _ = self._changes(self._old.tree, self._new.tree, {path.encode()})
            if path.encode() not in direct:
                return Fate(None, whys[-1] if whys and whys[-1].startswith("deleted") else "deleted")
            now, share = direct[path.encode()]
            whys = [f"{share} % similar to the file at {self._old.id.decode()[:SHORT]}"]
        try:
            name = now.decode()
        except UnicodeDecodeError:
            return Fate(None, "renamed to a name that isn't UTF-8")
        blob = self._blob(self._new, now)
        doubt: str | None = None
        if blob is None or blob != self._blob(self._old, path.encode()):
            doubt = "its content has changed"
        elif twins[blob] != 2:
            doubt = "other files of the same content came or went"
        return Fate(name, ", then ".join(why for why in whys if not why.startswith("deleted")), doubt)

    def _twins(self) -> Counter[bytes]:
        """Return the number of deleted and added files by content: two for a certain rename."""
        from dulwich.diff_tree import CHANGE_ADD, CHANGE_DELETE, tree_changes

        found: Counter[bytes] = Counter()
        for change in tree_changes(self._repository.object_store, self._old.tree, self._new.tree):
            if change.type == CHANGE_DELETE and change.old is not None and change.old.sha is not None:
                found[change.old.sha] += 1
            elif change.type == CHANGE_ADD and change.new is not None and change.new.sha is not None:
                found[change.new.sha] += 1
        return found

    def _changes(
        self, before: Any, after: Any, wanted: set[bytes]
    ) -> tuple[dict[bytes, tuple[bytes, int]], set[bytes]]:
        """Return the new paths of the wanted files that a tree lacks, with their similarity, and the deleted files."""
        from dulwich.diff_tree import CHANGE_DELETE, CHANGE_RENAME, RenameDetector, tree_changes

        store = self._repository.object_store
        gone = {
            change.old.path
            for change in tree_changes(store, before, after)
            if change.type == CHANGE_DELETE and change.old is not None and change.old.path in wanted
        }
        renamed: dict[bytes, tuple[bytes, int]] = {}
        if gone:
            detector = RenameDetector(store, rename_threshold=THRESHOLD, rewrite_threshold=None)
            for change in detector.changes_with_renames(before, after):
                old, new = change.old, change.new
                if change.type == CHANGE_RENAME and old is not None and new is not None and old.path in gone:
                    assert old.path is not None
                    assert new.path is not None
                    renamed[old.path] = new.path, similarity(self._content(old.sha), self._content(new.sha))
        return renamed, {path for path in gone if path is not None}

    def _blob(self, commit: GitCommit, path: bytes) -> bytes | None:
        """Return the sha of a file's content, or None if a commit has no such file."""
        import stat

        from dulwich.errors import NotTreeError
        from dulwich.object_store import tree_lookup_path
        from dulwich.objects import SubmoduleEncountered

        try:
            mode, sha = tree_lookup_path(self._repository.object_store.__getitem__, commit.tree, path)
        except (NotTreeError, SubmoduleEncountered):
            return None
        except KeyError as error:
            named = error.args[0] in path.split(b"/")
            if commit.tree in self._repository.object_store and not named and _is_sha(error.args[0]):
                raise
            return None
        return sha if stat.S_ISREG(mode) else None

    def _content(self, sha: Any) -> bytes:
        return bytes(self._repository.object_store[sha].as_raw_string())


def commit_of(repository: Repo, name: str, where: str) -> GitCommit:
    """Return a commit by its sha, an unambiguous prefix of it, a tag or a branch.

    Raise InputError if there is no such commit.
    """
    from dulwich.objectspec import parse_commit

    try:
        return parse_commit(repository, name)
    except (KeyError, ValueError, AssertionError) as error:
        remedy = "Name a commit, a tag or a branch of it, or fetch the missing one."
        raise InputError(f"the repository has no commit {name!r}", where=where, remedy=remedy) from error


def similarity(old: bytes, new: bytes) -> int:
    r"""Return the share of the larger of two contents that both have, by lines, in percent.

    >>> similarity(b"a\nb\n", b"a\nb\n"), similarity(b"a\nb\nc\nd\n", b"a\nb\nc\nx\n"), similarity(b"a", b"b")
    (100, 75, 0)
    """
    lines, others = (Counter(content.splitlines(keepends=True)) for content in (old, new))
    shared = sum(len(line) * count for line, count in (lines & others).items())
    return 100 * shared // max(len(old), len(new), 1) if old != new else 100


def _is_sha(text: object) -> bool:
    return isinstance(text, bytes) and re.fullmatch(rb"[0-9a-f]{40,64}", text) is not None
