"""Adds to the site what isn't a file of its folder: the README as the first page, and the reference of the API.

The pages link to files of the repository as GitHub shows them. A link to another page leads there; one to any other
file becomes its name, since the site doesn't hold it.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]

#: Files of the repository that are pages of the site, by their names there.
BESIDE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}

#: What makes a browser load something from another place than the site.
LOADS = {
    ".html": re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"' >]+"""),
    ".css": re.compile(r"""(?:url\(|@import )["']?(?:https?:)?//[^"' )]+"""),
}

API_HEAD = """\
# API

After this page you can call from Python what the commands do. Import the names from `graphkit` itself: they are the
stable ones. [python.md](python.md) shows them at work.
"""

#: The rooms of the package in the order of the page, with what their names are for.
ROOMS = {
    "scoring": "Scoring runs",
    "analysis": "Comparing and judging scores",
    "graph": "The graph",
    "report": "The report",
    "files": "Files",
    "imports": "Logs and graphs of others",
    "systems": "Running systems",
    "measures": "Measures",
    "records": "Records",
    "plugins": "Plug-ins",
    "errors": "Errors",
}


def on_config(config: Any) -> Any:
    """List the pages of a folder where the navigation names the folder."""
    for item in config["nav"]:
        for section in item.values():
            for entry in section if isinstance(section, list) else ():
                for title, value in entry.items():
                    if isinstance(value, str) and value.endswith("/"):
                        entry[title] = sorted(f"{value}{path.name}" for path in (ROOT / "docs" / value).glob("*.md"))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie elsewhere or are made here."""
    for name, source in BESIDE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    worker = Path(__file__).with_name("iframe-worker.js").read_text(encoding="utf-8")
    files.append(File.generated(config, "assets/iframe-worker.js", content=worker))
    files.append(File.generated(config, "api.md", content="\n".join(api_page())))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Lead the links of a page to the pages of the site; of other files of the repository only the name remains."""
    source = BESIDE.get(page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri)
    folder = "" if source else posixpath.join("docs", here)

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        name = next((name for name, source in BESIDE.items() if source == path), path.removeprefix("docs/"))
        if files.get_file_from_path(name) is not None:
            return f"{mark}[{text}]({posixpath.relpath(name, here or '.')}{anchor or ''})"
        return text if (ROOT / path).exists() else found[0]

    # The arguments of a command in a heading aren't references: [FILE...].
    markdown = re.sub(r"^(#+ )(.*)$", lambda line: line[1] + line[2].replace("[", "\\["), markdown, flags=re.MULTILINE)
    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)", link, markdown)


def on_post_build(config: Any) -> None:
    """Refuse a site that loads anything from elsewhere."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        loads = LOADS.get(path.suffix)
        if loads and (found := loads.search(path.read_text(encoding="utf-8"))):
            raise PluginError(f"{path.name} loads from the network: {found[0]}")


def api_page() -> Iterator[str]:
    """Yield the parts of the page that names every public object, by the room that defines it."""
    yield API_HEAD
    homes = sorted(public_names().items(), key=lambda one: (_place(one[1]), one[0].casefold()))
    for room, names in groupby(homes, key=lambda one: one[1].split(".")[1]):
        yield f"## {ROOMS.get(room, room.capitalize())}\n"
        yield from (f"::: {home}.{name}\n" for name, home in names)


def _place(home: str) -> tuple[int, str]:
    room = home.split(".")[1]
    return ([*ROOMS, room].index(room), room)


def public_names() -> dict[str, str]:
    """Return the module of each public name of the package; the package itself isn't imported."""
    tree = ast.parse((ROOT / "graphkit" / "__init__.py").read_text(encoding="utf-8"))
    imported = {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("graphkit.")
        for alias in node.names
    }
    [public] = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__"
    ]
    return {name: imported[name] for name in public}
