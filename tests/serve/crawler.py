"""Visits every address of a site: all routes, filled with what is known, and all links on pages.

A route that somebody adds is visited without a change here, if its parameters have known names or
a page links to it. Else `crawl` fails and says so.
"""

import html
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.routing import compile_path

MOST = 1500
PLACE = re.compile(r"{(\w+)(?::\w+)?}")
_LINK = re.compile(r"""(?:href|src|data-[\w-]+)=["']([^"'#]+)|"(/[^"\s{}]+)"|\((/[^)\s]+)\)""")
_SAME = {"benchmark": "benchmark_id", "submission": "submission_id", "scene": "sample"}


@dataclass
class Known:
    """Values for parameters of paths and queries, by their names."""

    benchmark_id: list = field(default_factory=list)
    submission_id: list = field(default_factory=list)
    sample: list = field(default_factory=list)
    upload_id: list = field(default_factory=list)
    method: list = field(default_factory=list)
    """In queries: ids of submissions."""
    files: list = field(default_factory=list)
    """Addresses of files, whether a page links to them or not."""
    batch: list = field(default_factory=lambda: ["none"])
    picture: list = field(default_factory=lambda: ["none"])
    mark: list = field(default_factory=lambda: ["guess"])
    study: list = field(default_factory=lambda: ["none"])
    link: list = field(default_factory=lambda: ["guess"])
    person: list = field(default_factory=lambda: ["guess"])
    task: list = field(default_factory=lambda: ["0"])
    letter: list = field(default_factory=lambda: ["A"])
    kind: list = field(default_factory=lambda: ["disparity"])
    file: list = field(default_factory=lambda: ["rankings.csv"])
    tab: list = field(default_factory=lambda: ["one"])
    since: list = field(default_factory=lambda: ["0"])
    number: list = field(default_factory=lambda: ["1", "999"])
    secret: list = field(default_factory=lambda: ["guess"])
    offset: list = field(default_factory=lambda: ["0"])
    page: list = field(default_factory=lambda: ["1", "2"])
    metric: list = field(default_factory=lambda: ["mae", "badpix:1"])
    region: list = field(default_factory=lambda: ["all"])
    on: list = field(default_factory=lambda: ["2026-01-01", "2030-01-01"])

    def values(self, name):
        """What a parameter may be; None if that is not known."""
        return getattr(self, _SAME.get(name, name), None)


def routes(app):
    """All routes of an application: methods, path, names of query parameters."""

    def flat(listed):
        for one in listed:
            if hasattr(one, "path"):
                yield one
            else:
                yield from flat(one.original_router.routes)

    for route in flat(app.routes):
        queries = getattr(getattr(route, "dependant", None), "query_params", [])
        yield route.methods - {"HEAD"}, route.path, [one.name for one in queries]


def addresses(path, known):
    """A path with all values for its places; None if one of them is not known."""
    found = [path]
    for name in PLACE.findall(path):
        values = known.values(name)
        if values is None:
            return None
        place = re.compile(rf"{{{name}(:\w+)?}}")
        found = [place.sub(lambda _, v=value: v, one) for one in found for value in values]
    return found


def crawl(app, client, known, head=None, below="/", *, follow=True):
    """The answer of every address that can be read: address -> answer; and unvisited routes.

    Without `follow`, links and queries are left out: every route once.
    """
    waiting, unfilled = list(known.files), {}
    for methods, path, queries in routes(app):
        if "GET" not in methods:
            continue
        filled = addresses(path, known)
        if filled is None:
            unfilled[path] = compile_path(path)[0]
            continue
        waiting += filled
        for name in queries if follow else ():
            values = known.values(name) or ["1", "all"]
            waiting += [f"{one}?{name}={value}" for one in filled for value in values]
    answers = {}
    while waiting:
        address = waiting.pop(0)
        if address in answers or not address.startswith(below):
            continue
        assert len(answers) < MOST, "there seems to be no end of addresses"
        answers[address] = answer = client.get(address, headers=head or {})
        waiting += links(answer, client.base_url.host) if follow else ()
    visited = {urlsplit(address).path for address in answers}
    return answers, {p for p, regex in unfilled.items() if not any(map(regex.match, visited))}


def links(answer, host):
    """The addresses of the same site that an answer names."""
    kind = answer.headers.get("content-type", "")
    if not re.search("html|json|xml|css", kind):
        return []
    for groups in _LINK.findall(answer.text):
        parts = urlsplit(html.unescape("".join(groups)))
        if parts.hostname not in (None, host) or not parts.path.startswith("/"):
            continue
        if "{" not in parts.path:
            yield f"{parts.path}?{parts.query}" if parts.query else parts.path
