"""``graphkit gold`` with its commands ``propose``, ``sample`` and ``migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    ExtendedCommands,
    as_json,
    command,
    group,
    open_graph,
    option,
    present,
    print_line,
    print_problems,
    say,
)
from graphkit.cli.options import DATASET_FOLDER
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.plugins.gold.migration import Candidate, GoldChange, Migration

#: The answers to a proposed change.
_ANSWERS = {"a": "a", "accept": "a", "r": "r", "reject": "r", "s": "s", "skip": "s"}

gold = group("Propose gold, sample questions, follow renames.", ExtendedCommands)


@gold.command()
@command(graph=True)
def propose(
    dataset: Path = DATASET_FOLDER,
    pattern: str = option(
        "--pattern -p CYPHER",
        "Match paths by this pattern, such as: MATCH p = (a {id: $start})-[:EDGE*1..3]->(b). A parameter is a field "
        "of the question.",
        required=True,
    ),
    question: str | None = option(
        "--question -q TEXT|ID", "Only the question of this id or text, or a new one. [default: all questions]"
    ),
    identifier: str | None = option("--id ID", "Use this id for a new question. [default: the first free qN]"),
    limit: int = option("--limit N", "Propose no more than N paths for a question.", default=20, min=1),
    decisions: Path | None = option(
        "--decisions FILE", "Decide in this CSV: write it if it is absent, read it if it is there."
    ),
) -> None:
    """Propose paths of the loaded graph as gold; write those that you accept to questions.jsonl."""
    from graphkit.cli.asking import require_terminal
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.plugins.gold import proposing
    from graphkit.plugins.gold.decisions import AcceptedPaths
    from graphkit.plugins.gold.proposals import parameters_of, proposed_paths
    from graphkit.plugins.gold.question_file import QuestionFile
    from graphkit.records.progress import expect

    if decisions is None:
        require_terminal("A person decides what is gold: run it in a terminal, or decide in a CSV by --decisions.")
    source, problems = Dataset(dataset), Problems("skip")
    file = QuestionFile(source.folder, question, identifier)
    values = file.with_parameters(parameters_of(pattern))
    if left := len(file.asked) - len(values):
        say(f"note: {_questions(left)} left out, without a field that the pattern uses")
    commits = source.commit_graph(problems)
    print_problems(problems)
    asked: list[proposing.Deciding] = []
    with open_graph(read_only=True) as store, shown_progress("matching paths") as progress:
        expect(progress, "questions", len(values))
        for name, parameters in values.items():
            one = file.asked[name].question
            found = proposed_paths(store, source.name, pattern, limit, parameters)
            asked.append(proposing.Deciding(one, found, AcceptedPaths(commits.pins(one))))
            progress("questions", 1)
    proposing.print_notes(asked)
    if decisions is not None and not decisions.exists():
        proposing.write_sheet(decisions, asked)
        return
    if decisions is not None:
        proposing.read_sheet(decisions, asked)
    else:
        proposing.ask_all(asked)
    accepted = {one.question.id: (one.accepted.paths, one.accepted.commits) for one in asked if one.accepted.paths}
    if accepted:
        from graphkit.files.assets import command_text

        file.write_all(accepted)
        say(f"note: the graph holds the gold as it was: `{command_text('load', dataset)}` brings it up to date")
    proposing.print_accepted(file.path, asked, only=question is not None)


@gold.command()
@command()
def sample(
    dataset: Path = DATASET_FOLDER,
    unanswerable: bool = option(
        "--unanswerable", "Sample questions without an answer: the knowledge graph proves that there is none."
    ),
    changed: str | None = option(
        "--changed A..B",
        "Sample edges that one of two versions lacks: two graphs of the dataset, or two commits, as in "
        "api@v1.0.0..v2.0.0.",
    ),
    decisions: Path = option(
        "--decisions FILE", "Decide in this CSV: write it if it is absent, read it if it is there.", required=True
    ),
    count: int = option("--count N", "Sample no more than N questions.", default=20, min=1),
    seed: int = option("--seed N", "Seed of the sample.", default=1),
) -> None:
    """Sample questions from the knowledge graph; add those that you accept to questions.jsonl."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.plugins.gold.changed_edges import ChangedEdge, ChangedEdges, changes_in, write_changes
    from graphkit.plugins.gold.unanswerable import (
        AbsenceCandidate,
        Sampler,
        accepted_in,
        append_questions,
        write_candidates,
    )

    if unanswerable == (changed is not None):
        what = "--unanswerable and --changed exclude each other" if unanswerable else "nothing says what to sample"
        raise InputError(what, where="gold sample", remedy="Give either --unanswerable or --changed A..B.")
    source, problems = Dataset(dataset), Problems("skip")
    known = {question.id for question in source.every_question()}
    if decisions.exists():
        accepted, rejected, left = (accepted_in if unanswerable else changes_in)(decisions, known)
        append_questions(source, accepted)
        text = f"{source.questions_file}: {_questions(len(accepted))} added; {rejected} rejected, {left} undecided"
        present(text, {"added": [one["id"] for one in accepted], "rejected": rejected, "undecided": left})
        return
    found: Sequence[AbsenceCandidate | ChangedEdge]
    with shown_progress("searching the knowledge graph"):
        if changed is None:
            found = absent = Sampler.of(source, problems).candidates(count, seed)
        else:
            every = ChangedEdges.between(source, changed, problems)
            found = changes = every.drawn(count, seed)
    print_problems(problems)
    if changed is None:
        if not found:
            what = "the knowledge graph proves nothing absent for the gold paths of the dataset"
            raise InputError(what, where=str(dataset), remedy="It needs gold paths whose edges the graph holds.")
        write_candidates(decisions, absent, known)
    else:
        if every.undated:
            them = "it" if every.undated == 1 else "them"
            say(f"note: {counted(every.undated, 'edge')} left out: the known parents of commits don't date {them}")
        if not found:
            raise InputError(f"no edge is known to exist at one version of {changed} only", where=str(dataset))
        write_changes(decisions, changes, known)
    kinds = ", ".join(
        f"{sum(one.kind == kind for one in found)} {kind}" for kind in dict.fromkeys(o.kind for o in found)
    )
    text = f"{decisions}: {counted(len(found), 'candidate')} ({kinds}); fill in the column decision, and run it again"
    present(text, *(one._asdict() for one in found))


@gold.command()
@command()
def migrate(
    dataset: Path = DATASET_FOLDER,
    repo: list[str] = option(
        "--repo NAME=PATH", "Read this local clone of the repository; may be repeated.", required=True
    ),
    to: list[str] | None = option(
        "--to [NAME=][FROM..]COMMIT",
        "Update to this commit, tag or branch, with FROM.. only gold at that one; may be repeated. [default: HEAD]",
    ),
    dry_run: bool = option("--dry-run", "List the proposals, and ask nothing."),
    yes: bool = option("--yes", "Accept what is certain (files of the same content), and ask nothing."),
) -> None:
    """Update gold whose files were renamed or moved since it was annotated; change only what you accept."""
    from contextlib import ExitStack

    from graphkit.files.dataset import Dataset
    from graphkit.files.git import open_repository
    from graphkit.plugins.gold.migration import migration

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
        from graphkit.files.assets import command_text

        loading = command_text("load", dataset)
        say(f"note: the graph holds the questions as they were: `{loading}` brings them up to date")
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
