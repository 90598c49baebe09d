"""A small HTTP server with ranges that can break, lie and change its mind."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Site:
    """What the server has, and how it behaves."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    break_after: dict[str, int] = field(default_factory=dict)
    """Bytes of an answer after which the connection is closed."""
    errors: dict[str, list[int]] = field(default_factory=dict)
    """Codes of the first answers."""
    moved: dict[str, str] = field(default_factory=dict)
    without_ranges: bool = False
    wrong_start: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Path and range of every request."""


class Handler(BaseHTTPRequestHandler):
    """Answers as the server's `site` says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server.site
        path, asked = self.path.lstrip("/"), self.headers.get("Range", "")
        site.asked.append((path, asked))
        if path in site.moved:
            self.send_response(302)
            self.send_header("Location", site.moved[path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif site.errors.get(path):
            self._plain(site.errors[path].pop(0))
        elif path not in site.files:
            self._plain(404)
        else:
            self._file(site, path, asked)

    def _plain(self, code):
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, site, path, asked):
        body, tag = site.files[path], site.tags.get(path, '"one"')
        start = int(asked[6:-1]) if asked and not site.without_ranges else 0
        if asked and self.headers.get("If-Range", tag) != tag:
            start = 0
        if start and start >= len(body):
            self._plain(416)
            return
        self.send_response(206 if start else 200)
        if start:
            said = start + 1 if site.wrong_start else start
            self.send_header("Content-Range", f"bytes {said}-{len(body) - 1}/{len(body)}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        rest = body[start:]
        limit = site.break_after.get(path, len(rest))
        self.wfile.write(rest[:limit])
        self.close_connection = limit < len(rest)

    def log_message(self, *_args):
        pass


class Server(ThreadingHTTPServer):
    """Says nothing when a client goes away in the middle of an answer."""

    def handle_error(self, request, client_address):
        pass


@pytest.fixture
def site():
    """The server; it runs while the test does."""
    found = Site()
    server = Server(("127.0.0.1", 0), Handler)
    server.site = found
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    server.server_close()
    thread.join()
