"""Hooks of the site's build (`mkdocs.yml`): what pages link to outside of docs/ joins the site.

Pages are written for the repository, where `../CONTRIBUTING.md` and `../perf/results.json` lead
somewhere. In the site, some of those files are pages, and the others are copied below `files/`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = "docs"
PAGES = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "examples/README.md": "examples.md",
}
"""Files outside of docs/ that are pages of the site; index.md stands for the README."""
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s:]+)(?=(?:#[^)\s]*)?\))")


def on_files(files: Files, config: Any) -> Files:
    """Adds files outside docs/ that are pages, or that pages link to."""
    from mkdocs.structure.files import File

    for origin, page in PAGES.items():
        if files.get_file_from_path(page) is None:
            text = (REPOSITORY / origin).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
    for page in files.documentation_pages():
        for origin in linked_files(page.content_string, origin_of(page.src_uri)):
            uri = uri_of(origin)
            if files.get_file_from_path(uri) is None:
                content = (REPOSITORY / origin).read_bytes()
                files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Makes the links of a page lead to where things are in the site."""
    return site_links(markdown, page.file.src_uri)


def origin_of(page: str) -> str:
    """The path in the repository of a page of the site."""
    for origin, other in PAGES.items():
        if page == other and page != "index.md":
            return origin
    return f"{DOCS}/{page}"


def uri_of(origin: str) -> str:
    """Where a file of the repository is in the site."""
    if origin in PAGES:
        return PAGES[origin]
    return origin.removeprefix(f"{DOCS}/") if origin.startswith(f"{DOCS}/") else f"files/{origin}"


def linked_files(text: str, origin: str) -> list[str]:
    """Files of the repository that a page links to and that are neither in docs/ nor pages."""
    found = (_resolve(match["target"], origin) for match in _LINK.finditer(text))
    return [f for f in found if f and not f.startswith(f"{DOCS}/") and f not in PAGES]


def site_links(text: str, page: str) -> str:
    """The text of a page with every link to a file of the repository as the site has it."""
    origin, folder = origin_of(page), posixpath.dirname(page)

    def lead(match: re.Match[str]) -> str:
        found = _resolve(match["target"], origin)
        return posixpath.relpath(uri_of(found), folder or ".") if found else match["target"]

    return _LINK.sub(lead, text)


def _resolve(target: str, origin: str) -> str:
    """The path in the repository of a link's target; empty if there is no such file."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    return path if (REPOSITORY / path).is_file() else ""
