"""Notes on the repositories of a new dataset's nodes: how many there are, and what may be wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from graphkit.records.ids import Places
from graphkit.records.words import counted, shortened

#: More repositories than this, and than this share of the nodes, are a doubt.
FEW, MANY = 10, 0.1

#: How many repositories and ids a sentence names.
_SHOWN = 10


def repository_counts(places: Places, nodes: Collection[str]) -> Counter[str]:
    """Return how many of some nodes lie in each repository."""
    return Counter(repo for node in nodes if (repo := places.repo(node)) is not None)


def repository_line(counts: Counter[str]) -> str:
    """Return the repositories with the number of their nodes, the largest first; empty if there is none."""
    if not counts:
        return ""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    shown = ", ".join(f"{repo} ({count})" for repo, count in ordered[:_SHOWN])
    return f"repositories: {shown}{f' and {len(ordered) - _SHOWN} more' if len(ordered) > _SHOWN else ''}"


def repository_notes(places: Places, nodes: Collection[str], counts: Counter[str]) -> list[str]:
    """Return what may be wrong with the repositories of some nodes, in sentences."""
    notes = []
    before = {node: repo for node in nodes if (repo := node.partition(":")[0]) and repo != node}
    others = sorted(node for node, repo in before.items() if places.repo(node) not in (None, repo))
    unread = sorted(node for node in before if places.repo(node) is None)
    settle = '--repo-from, or "repositories" in dataset.json, settles it'
    if others:
        notes.append(
            f"{counted(len(others), 'id')} of {len(nodes)} begin with something else than their repository, as "
            f"{shortened(others[0])!r} of {places.repo(others[0])}: what the graph states counts; {settle}"
        )
    if unread:
        notes.append(
            f"{counted(len(unread), 'id')} of {len(nodes)} contain a colon, as {shortened(unread[0])!r}: what stands "
            f"before it isn't read as a repository; {settle}"
        )
    if len(counts) > max(FEW, MANY * len(nodes)):
        notes.append(
            f"{counted(len(counts), 'repository', 'repositories')} for {counted(len(nodes), 'id')}: these may be "
            f"modules or titles; {settle}"
        )
    return notes
