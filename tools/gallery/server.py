"""Serves the gallery under the content security policy of the site."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tools.gallery import board, chart, data
from tools.web import BUNDLE, ROOT, WEB

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".png": "image/png",
    ".webp": "image/webp",
    ".dgpc": "application/octet-stream",
}
PAGES: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
    "board": lambda query: {"board": board.board(query.get("columns", ""), query.get("of", ""))},
    "compare": lambda _: {},
    "points": lambda _: {},
    "lightfield": lambda _: {},
    "stereo": lambda _: {},
    "chart": lambda _: {"chart": chart.chart()},
}


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """Serves the gallery; gives its address.

    Args:
        folder: Where the made data is written.
        port: 0 for any free one.
    """
    data.write(folder)
    handler = functools.partial(_Handler, folder)
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def page(name: str, query: dict[str, str]) -> str:
    """One page of the gallery as HTML."""
    manifest = json.loads((BUNDLE / "manifest.json").read_text("utf-8"))
    name_of_entry = manifest["entry"]
    entry = {"name": name_of_entry, "integrity": manifest["files"][name_of_entry]["integrity"]}
    environment = Environment(
        loader=FileSystemLoader(WEB / "gallery"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    template = environment.get_template(f"{name}.html.j2")
    return template.render(entry=entry, names=list(PAGES), **PAGES[name](query))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folder: Path, *arguments: Any) -> None:
        self.folder = folder
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answers pages, our static files and made data."""
        url = urlsplit(self.path)
        query = {name: found[-1] for name, found in parse_qs(url.query).items()}
        name = unquote(url.path).strip("/") or "board"
        if name in PAGES:
            self._answer(200, "text/html; charset=utf-8", page(name, query).encode())
            return
        path = self._file(name)
        if path is None:
            self._answer(404, "text/plain", b"there is no such page")
        else:
            kind = _TYPES.get(path.suffix, "application/octet-stream")
            self._answer(200, kind, path.read_bytes())

    def _file(self, name: str) -> Path | None:
        first, _, rest = name.partition("/")
        folders = {"islands": BUNDLE, "data": self.folder}
        known = {
            "report.css": ROOT / "src/depthgauge/report/templates/report.css",
            "gallery.css": WEB / "gallery" / "gallery.css",
        }
        path = folders[first] / rest if first in folders else known.get(name)
        return path if path is not None and ".." not in name and path.is_file() else None

    def _answer(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing: tests read what the browser complains about."""
