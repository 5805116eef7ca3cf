"""Comments on pull requests of GitHub and merge requests of GitLab: one a request, which each job brings up to date."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from graphkit.errors import InputError
from graphkit.records.secrets import remember

if TYPE_CHECKING:
    import httpx2

#: A request may take so many seconds, and a page holds so many comments.
SECONDS, PAGE = 60, 100

#: More pages than these aren't read.
MOST_PAGES = 100


class CommentError(InputError):
    """The comment couldn't be written; the job goes on."""


@dataclass(frozen=True)
class CommentPlace:
    """The comments of one request: their address, the field of the author's login, and how they are changed.

    ``author`` is the login that the token writes as; without it, only the marker tells the own comment.
    """

    address: str
    change: str
    method: str
    headers: Mapping[str, str] = field(repr=False)
    author: str = ""
    login: tuple[str, str] = ("user", "login")

    def is_own(self, comment: Mapping[str, Any], marker: str) -> bool:
        """Return whether a comment is the one to change: comments of others are never changed."""
        who = comment.get(self.login[0])
        named = who.get(self.login[1]) if isinstance(who, dict) else None
        body = str(comment.get("body") or "")
        return body.startswith(marker) and (not self.author or named == self.author)


def place_of(environment: Mapping[str, str], token: str | None, author: str = "") -> CommentPlace | None:
    """Return where a job's comment goes; None outside of a request, or without a token."""
    if not token:
        return None
    remember(token)
    if environment.get("GITHUB_ACTIONS") == "true":
        number = _pull_request(environment)
        if number is None:
            return None
        base = environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        repository = quote(environment.get("GITHUB_REPOSITORY", ""))
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        issues = f"{base}/repos/{repository}/issues"
        own = author or "github-actions[bot]"
        return CommentPlace(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers, own)
    if environment.get("GITLAB_CI") == "true":
        request = environment.get("CI_MERGE_REQUEST_IID", "")
        if not request.isdecimal():
            return None
        project = quote(environment.get("CI_PROJECT_ID", ""), safe="")
        base = environment.get("CI_API_V4_URL", "https://gitlab.com/api/v4").rstrip("/")
        notes = f"{base}/projects/{project}/merge_requests/{request}/notes"
        return CommentPlace(notes, notes, "PUT", {"PRIVATE-TOKEN": token}, author, ("author", "username"))
    return None


def _pull_request(environment: Mapping[str, str]) -> int | None:
    """Return the number of the pull request whose event started the job; None if it was another event."""
    try:
        event = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
        number = event["pull_request"]["number"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return number if isinstance(number, int) else None


def write_comment(place: CommentPlace, lines: list[str]) -> str:
    """Write a comment, whose first line is its marker, or bring that of an earlier job up to date; say what was done.

    Raises
    ------
    CommentError
        The server can't be reached, or refuses: the token of a fork's pull request may not write.
    """
    try:
        import httpx2
    except ImportError:
        raise CommentError("comments need httpx", remedy="Install it: pip install 'graphkit-eval[ci]'.") from None
    body = {"body": "\n".join(lines) + "\n"}
    try:
        with httpx2.Client(headers=dict(place.headers), timeout=SECONDS) as client:
            own = next((one for one in _comments(client, place) if place.is_own(one, lines[0])), None)
            if own is None:
                _answer(client.post(place.address, json=body))
                return "wrote a comment"
            _answer(client.request(place.method, f"{place.change}/{int(own['id'])}", json=body))
            return "brought the comment up to date"
    except httpx2.HTTPError as error:
        raise CommentError(f"the comment couldn't be written: {type(error).__name__}") from None


def _comments(client: httpx2.Client, place: CommentPlace) -> Iterator[Mapping[str, Any]]:
    for page in range(1, MOST_PAGES + 1):
        found = _answer(client.get(place.address, params={"per_page": PAGE, "page": page})).json()
        if not isinstance(found, list):
            raise CommentError("the comment couldn't be written: the server's reply is no list of comments")
        yield from (one for one in found if isinstance(one, dict))
        if len(found) < PAGE:
            return


def _answer(response: httpx2.Response) -> httpx2.Response:
    if response.status_code in (401, 403, 404):
        raise CommentError(
            f"the comment couldn't be written ({response.status_code}): this token may not, as a fork's",
            remedy="Give the token the permission to write comments (pull-requests: write), or publish comment.md.",
        )
    if not response.is_success:
        raise CommentError(f"the comment couldn't be written: the server answered {response.status_code}")
    return response


def summary_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the file that GitHub shows as the summary of a job; None elsewhere."""
    path = (os.environ if environment is None else environment).get("GITHUB_STEP_SUMMARY")
    return Path(path) if path else None
