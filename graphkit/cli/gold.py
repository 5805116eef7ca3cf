"""``graphkit gold`` with its commands ``propose`` and ``migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import as_json, command, group, open_graph, option, present, print_line, print_problems, say
from graphkit.cli.options import DATASET_FOLDER
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.gold.migration import Candidate, GoldChange, Migration
    from graphkit.graph.proposals import Proposal, Proposals
    from graphkit.records.models import Question

#: The answers to a proposed change.
_ANSWERS = {"a": "a", "accept": "a", "r": "r", "reject": "r", "s": "s", "skip": "s"}

gold = group("Propose gold paths, and update them after renames; you decide on each.")


@gold.command()
@command(graph=True)
def propose(
    dataset: Path = DATASET_FOLDER,
    question: str = option(
        "--question -q TEXT|ID", "Add paths to the question of this id or text, or to a new one.", required=True
    ),
    pattern: str = option(
        "--pattern -p CYPHER", "Match paths by this pattern, such as: MATCH p = (a)-[:EDGE*1..3]->(b).", required=True
    ),
    identifier: str | None = option("--id ID", "Use this id for a new question. [default: the first free qN]"),
    limit: int = option("--limit N", "Look at no more than N paths.", default=20, min=1),
) -> None:
    """Propose paths of the loaded graph as gold; write those that you accept in the terminal to questions.jsonl."""
    from graphkit.cli.asking import require_terminal
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.gold.question_file import QuestionFile
    from graphkit.graph.proposals import proposed_paths

    require_terminal("A person decides what is gold: run the command in a terminal.")
    source, problems = Dataset(dataset), Problems("skip")
    file = QuestionFile(source.folder, question, identifier)
    with open_graph(read_only=True) as store, shown_progress("matching paths"):
        proposals = proposed_paths(store, source.name, pattern, limit)
    pinned = source.commit_graph(problems).pins(file.question)
    print_problems(problems)
    new = _new(proposals, file.question)
    say(f"question {file.question.id}: {file.question.question}")
    paths, commits = _ask(new, pinned)
    if paths:
        file.write(paths, commits)
        say(f"note: the graph holds the question as it was: `graphkit load {dataset}` brings it up to date")
    present(
        f"{file.path}: {counted(len(paths), 'path')} more for {file.question.id}",
        {"question": file.question.id, "proposed": len(new), "accepted": len(paths), "commits": commits},
    )


def _new(proposals: Proposals, question: Question) -> list[Proposal]:
    """Return the proposals that aren't gold of the question already, and print notes about the others."""
    new = proposals.new_for(question)
    if known_already := len(proposals.found) - len(new):
        say(f"note: {counted(known_already, 'path')} found that {'is' if known_already == 1 else 'are'} gold already")
    if proposals.foreign:
        say(f"note: {counted(proposals.foreign, 'path')} skipped: not only edges of the dataset's knowledge graph")
    if proposals.cut:
        say("note: the pattern finds more paths than --limit allows: narrow it, or raise --limit")
    if not new:
        say("note: the pattern finds no path that isn't gold already")
    return new


def _ask(new: list[Proposal], pinned: dict[str, str]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the paths that a person accepts, and the commits that are pinned for them."""
    paths: list[dict[str, Any]] = []
    commits: dict[str, str] = {}
    for number, one in enumerate(new, 1):
        say()
        say(f"--- path {number} of {len(new)} " + "-" * 40)
        for place, step in enumerate(one.steps, 1):
            say(f"{place:>3}. {step.source} -{step.relation}-> {step.target}")
        for repo, sha in one.commits.items():
            say(f"     {repo} at {sha}")
        if one.unpinned:
            say(f"     the graph knows no commit, or more than one, of: {', '.join(one.unpinned)}")
        already = {**pinned, **commits}
        if (other := one.other_pin(already)) is not None:
            say(f"skipped: the question is pinned to {other} at {already[other]}")
            continue
        answer = _asked(one)
        if answer is None:
            break
        if answer:
            paths.append(answer)
            commits.update({repo: sha for repo, sha in one.commits.items() if repo not in already})
    return paths, commits


def _asked(one: Proposal) -> dict[str, Any] | None:
    """Return the path as the person accepts it, an empty one for a rejection, or None to stop."""
    from graphkit.cli.asking import ask

    def read(line: str) -> dict[str, Any] | None:
        word, _, more = line.partition(" ")
        word, more = word.lower(), more.strip()
        if word in ("r", "reject") and not more:
            return {}
        if word in ("a", "accept"):
            return one.as_gold(group=more)
        if word in ("o", "optional"):
            places = range(1, len(one.steps) + 1)
            chosen = [int(text) for text in more.split() if text.isdecimal()] if more else list(places)
            if len(chosen) == len(more.split() or places) and set(chosen) <= set(places):
                return one.as_gold(optional=chosen)
        return None

    choices = "a accept, a NAME as an alternative, o optional, o 1 2 only these steps, r reject, q quit"
    return ask(choices, read, "a, o, r or q")


@gold.command()
@command()
def migrate(
    dataset: Path = DATASET_FOLDER,
    repo: list[str] = option(
        "--repo NAME=PATH", "Read this local clone of the repository; may be repeated.", required=True
    ),
    to: list[str] | None = option(
        "--to [NAME=]COMMIT", "Update to this commit, tag or branch; may be repeated. [default: HEAD]"
    ),
    dry_run: bool = option("--dry-run", "List the proposals, and ask nothing."),
    yes: bool = option("--yes", "Accept what is certain (files of the same content), and ask nothing."),
) -> None:
    """Update gold whose files were renamed or moved since it was annotated; change only what you accept."""
    from contextlib import ExitStack

    from graphkit.files.dataset import Dataset
    from graphkit.files.git import open_repository
    from graphkit.gold.migration import migration

    if dry_run and yes:
        raise InputError("--dry-run and --yes exclude each other", remedy="Give only one of them.")
    paths = dict(map(named_repository, repo))
    with ExitStack() as stack:
        opened = {name: (str(path), stack.enter_context(open_repository(path))) for name, path in paths.items()}
        found = migration(Dataset(dataset), opened, _targets(to or [], list(paths)))
        _print_migration(found, dry_run)
        facts = found.as_json()
        accepted: list[Candidate] = []
        if yes:
            accepted = found.certain
            _print_uncertain(found)
        elif found.changes and not dry_run and not as_json():
            accepted = _ask_changes(found.changes)
        changed, still = found.apply(accepted, only_proven=yes)
    for question, names in still.items():
        say(f"note: {question} is unchanged: there is no decision about {', '.join(names)}")
    if changed:
        say(f"note: the graph holds the questions as they were: `graphkit load {dataset}` brings them up to date")
    text = f"{found.file.path}: {_questions(len(changed))} changed{': ' * bool(changed)}{', '.join(changed)}"
    present(text, {**facts, "accepted": len(accepted), "changed": changed, "unsettled": still})


def _print_uncertain(found: Migration) -> None:
    """Print the changes that ``--yes`` doesn't accept."""
    for change in found.uncertain:
        say(f"not certain: {change.doubt}")
    if found.changes and not found.certain:
        say("note: --yes accepts nothing: nothing is certain; run it in a terminal without --yes to decide")


def named_repository(text: str) -> tuple[str, Path]:
    """Return the name and the folder of ``NAME=PATH``."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise InputError(f"--repo takes NAME=PATH, not {text!r}")
    return name, Path(path)


def _targets(given: list[str], repositories: list[str]) -> dict[str, str]:
    """Return the target commit of each repository: its own, or the one for all, or HEAD."""
    targets = dict.fromkeys(repositories, "HEAD")
    own: dict[str, str] = {}
    for text in given:
        name, equals, commit = text.partition("=")
        if equals and name in targets:
            own[name] = commit
        else:
            targets = dict.fromkeys(repositories, text)
    return {**targets, **own}


def _print_migration(found: Migration, listed: bool) -> None:
    """Print the gold without a proposal, and with ``listed`` the proposals."""
    for question, reasons in found.skipped.items():
        say(f"skipped: {question}: {'; '.join(reasons)}")
    for gone in found.gone:
        say(f"gone: {gone.name} of {', '.join(gone.questions)}: {gone.why}")
    for edge in found.unproven:
        say(f"unproven: {edge.text} of {edge.question}: {edge.why}")
    if found.unmoved:
        say(f"note: {_questions(found.unmoved)} without a moved file: their commits stay")
    if not found.changes:
        say("note: nothing that gold names was renamed or moved")
    elif listed and not as_json():
        for change in found.changes:
            for each in change.candidates:
                sure = "certain" if each.certain else "to be checked"
                print_line(f"{change.old} -> {each.new}: {each.why} ({sure}; {', '.join(change.questions)})")


def _questions(count: int) -> str:
    return counted(count, "question")


def _ask_changes(changes: list[GoldChange]) -> list[Candidate]:
    """Return the candidates that a person accepts."""
    from graphkit.cli.asking import ask, require_terminal

    require_terminal("Run it in one; --yes accepts what is certain, and --dry-run lists all. Nothing was changed.")
    accepted: list[Candidate] = []
    for number, change in enumerate(changes, 1):
        say()
        say(f"--- {number} of {len(changes)}: {change.old} at {change.pin[:10]}, in {', '.join(change.questions)}")
        for each in change.candidates:
            say(f"    -> {each.new}: {each.why}{' (the same content)' if each.certain else ''}")
            for old, new in each.renames.items():
                say(f"       {old} -> {new}")
            answer = ask(
                "a accept, r reject this one, s skip, q quit", lambda line: _ANSWERS.get(line.lower()), "a, r, s or q"
            )
            if answer is None:
                return accepted
            if answer == "a":
                accepted.append(each)
            if answer != "r":
                break
    return accepted
