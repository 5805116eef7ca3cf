"""``graphkit cache``: what is recorded, and dropping some of it."""

from __future__ import annotations

from pathlib import Path

from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import Reply, Usage
from tests.helpers.cli import inside
from tests.helpers.cli import inside as graphkit
from tests.helpers.models import asked


def recorded(path: Path) -> Path:
    """Keep two replies of one model and one of another, the second of them ten days ago."""
    with ReplyCache(path) as cache:
        for text, model in (("a", "m"), ("b", "m"), ("c", "other\x1b[2J")):
            cache.put(asked(text, model), Reply("fine", model, "end_turn", Usage(100, 20, 3, 4)))
        cache.rows("UPDATE replies SET kept_at = kept_at - 864000 WHERE digest = ?", (asked("b", "m").digest,))
        cache.note_use(8, 3)
    return path


def test_stats(tmp_path: Path) -> None:
    """Replies, tokens and times by model are reported, in words and as JSON; no model's name drives the terminal."""
    path = recorded(tmp_path / ".graphkit" / "replies.sqlite")
    found = graphkit("cache", "stats", "--json", cwd=tmp_path, code=0).object()
    assert (found["path"], found["entries"]) == (".graphkit/replies.sqlite", 3)
    one = found["models"]["m"]
    assert (one["entries"], one["input_tokens"], one["output_tokens"]) == (2, 200, 40)
    assert (one["cache_read_tokens"], one["cache_write_tokens"]) == (6, 8)
    assert found["size"] >= path.stat().st_size > 0
    assert (found["hits"], found["misses"], found["batches_under_way"]) == (8, 3, 0)
    assert found["oldest"] < found["newest"]
    text = inside("cache", "stats", cwd=tmp_path, code=0).out
    assert "3 replies" in text
    assert "the last grading read 8 of them, and asked for 3" in text
    assert "\x1b" not in text


def test_stats_where_nothing_is(tmp_path: Path) -> None:
    """If there is no file, that is no mistake, and none is made."""
    found = inside("cache", "stats", "--json", cwd=tmp_path, code=0).object()
    assert (found["entries"], found["size"], found["oldest"], found["hits"]) == (0, 0, None, None)
    assert "0 replies" in inside("cache", "stats", cwd=tmp_path, code=0).out
    assert list(tmp_path.iterdir()) == []


def test_which_file(tmp_path: Path) -> None:
    """--cache wins over GRAPHKIT_REPLIES, that over --data, and that over GRAPHKIT_HOME."""
    env = {"GRAPHKIT_HOME": "home"}

    def path(*options: str, **more: str) -> str:
        return str(inside("cache", "stats", "--json", *options, cwd=tmp_path, env={**env, **more}).object()["path"])

    assert path() == "home/replies.sqlite"
    assert path("--data", "mine") == "mine/replies.sqlite"
    assert path("--data", "mine", GRAPHKIT_REPLIES="named") == "named"
    assert path("--cache", "given", GRAPHKIT_REPLIES="named") == "given"


def test_prune(tmp_path: Path) -> None:
    """Replies that fit all options are removed, and the rest is counted."""
    recorded(tmp_path / "r.sqlite")

    def prune(*options: object) -> tuple[int, int]:
        done = inside("cache", "prune", *options, "--cache", "r.sqlite", "--json", cwd=tmp_path, code=0).object()
        return done["removed"], done["entries"]

    assert prune("--older-than", 20) == (0, 3)
    assert prune("--older-than", 5, "--model", "m") == (1, 2)
    assert prune("--to-size", 1) == (0, 2)
    assert prune("--model", "m") == (1, 1)
    assert prune("--batches") == (0, 1)
    assert prune("--all") == (1, 0)
    done = inside("cache", "prune", "--all", "--batches", "--cache", "r.sqlite", cwd=tmp_path, code=0)
    assert "0 replies removed, 0 left" in done.out
    assert "0 batches forgotten" in done.out


def test_prune_refuses_what_says_nothing(tmp_path: Path) -> None:
    """No choice, two that contradict each other, an unknown model and a file that isn't there end with 2."""
    recorded(tmp_path / "r.sqlite")
    for options, words in (
        ((), "no option names the replies to remove"),
        (("--all", "--model", "m"), "every other choice"),
        (("--model", "n"), "There are: m, other"),
        (("--older-than", "-1"), "--older-than must be a number"),
        (("--to-size", "nan"), "--to-size takes a finite number, not nan"),
    ):
        done = inside("cache", "prune", *options, "--cache", "r.sqlite", cwd=tmp_path, code=2)
        assert words in done.err
        assert "\x1b" not in done.err
    assert "no file" in inside("cache", "prune", "--all", "--cache", "absent", cwd=tmp_path, code=2).err
    (tmp_path / "bad").write_bytes(b"x" * 5000)
    assert "damaged" in graphkit("cache", "stats", "--cache", "bad", cwd=tmp_path, code=2).err
    refused = "bad: the file holds something that graphkit didn't write"
    assert refused in graphkit("cache", "prune", "--all", "--cache", "bad", cwd=tmp_path, code=2).err
