"""Moved gold edges that the target commit no longer shows."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.migrations import CODE, Clone, data, found, migrate, question, rows


def test_an_edge_that_the_texts_no_longer_show_is_unproven(web: Clone, tmp_path: Path) -> None:
    """Both ends moved, and the file of one no longer mentions the other.

    login called other() before; at the target it doesn't. caller still calls it, and so does second() in its own file.
    A step that a person added by hand is not looked for.
    """
    web.write("src/auth.py", CODE.replace("return user", "return other(user)"))
    web.write("src/caller.py", "def caller():\n    return other()\n")
    web.write("src/other.py", "def other():\n    return 1\n\n\ndef second():\n    return other()\n")
    pin = web.commit()
    for name in ("auth", "caller", "other"):
        web.move(f"src/{name}.py", f"lib/{name}.py")
    web.write("lib/auth.py", CODE)
    web.commit()
    login, caller = ["web:src/auth.py#login", "CALLS", "web:src/other.py#other"], "web:src/caller.py#caller"
    manual = {"source": "web:src/auth.py#logout", "target": "web:src/other.py#other", "evidence": "manual"}
    folder = data(
        tmp_path,
        {**question(pin), "paths": [[login]]},
        {**question(pin), "id": "q2", "paths": [[[caller, "CALLS", "web:src/other.py#other"]]]},
        {**question(pin), "id": "q3", "paths": [[["web:src/other.py#second", "CALLS", "web:src/other.py#other"]]]},
        {**question(pin), "id": "q4", "paths": [{"steps": [{**manual, "source": login[0]}]}]},
    )
    one = found(folder, web)
    assert [(edge.question, edge.text, edge.why) for edge in one.unproven] == [
        ("q1", "web:lib/auth.py#login -CALLS-> web:lib/other.py#other", "lib/auth.py doesn't mention other any more")
    ]
    # A person may still say yes.
    assert one.apply([change.candidates[0] for change in one.changes])[0] == ["q1", "q2", "q3", "q4"]


def test_an_edge_that_its_own_file_no_longer_shows_is_unproven(web: Clone, tmp_path: Path) -> None:
    """Within a file, a definition isn't a use: other() is still defined, and no longer called."""
    web.write("src/other.py", "def other():\n    return 1\n\n\ndef second():\n    return other()\n" + "# more\n" * 20)
    pin = web.commit()
    web.move("src/other.py", "lib/other.py")
    web.write("lib/other.py", "def other():\n    return 1\n\n\ndef second():\n    return 2\n" + "# more\n" * 20)
    web.commit()
    asked = {**question(pin), "paths": [[["web:src/other.py#second", "CALLS", "web:src/other.py#other"]]]}
    [edge] = found(data(tmp_path, asked), web).unproven
    assert edge.why == "lib/other.py doesn't mention other any more"


def test_an_edge_that_the_graph_no_longer_holds_is_unproven(web: Clone, tmp_path: Path) -> None:
    """The dataset's edges at the target override the texts; --yes doesn't change such a question."""
    pin = web.commit()
    web.move("src/auth.py", "lib/auth.py")
    web.move("src/other.py", "lib/other.py")
    target = web.commit()
    ids = ["web:lib/auth.py#login", "web:lib/auth.py#logout", "web:lib/other.py#other"]
    folder = data(
        tmp_path,
        {**question(pin), "paths": [[["web:src/auth.py#login", "CALLS", "web:src/other.py#other"]]]},
        {**question(pin), "id": "q2", "paths": [[["web:src/auth.py#logout", "CALLS", "web:src/other.py#other"]]]},
        {**question(pin), "id": "q3", "paths": [["web:src/auth.py#logout", "web:src/other.py#other"]]},
        **{
            "artifacts-new": [{"id": name, "commit": target} for name in ids],
            "edges-new": [{"source": ids[1], "relation": "CALLS", "target": ids[2]}],
            "edges-old": [{"source": ids[0], "relation": "CALLS", "target": ids[2]}],
        },
    )
    before = rows(folder)
    done = migrate(tmp_path, "--yes", "--json")
    why = f"no edge of the dataset at {target[:10]} is this one"
    edge = {"source": ids[0], "relation": "CALLS", "target": ids[2]}
    assert done.object()["unproven"] == [{"repo": "web", "question": "q1", **edge, "why": why}]
    assert done.object()["changed"] == ["q2", "q3"]
    assert done.object()["unsettled"] == {"q1": [f"{ids[0]} -CALLS-> {ids[2]}"]}
    assert f"unproven: {ids[0]} -CALLS-> {ids[2]} of q1: {why}" in done.err
    assert rows(folder)[0] == before[0]
