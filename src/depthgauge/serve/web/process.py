"""The web process: `python -m depthgauge.serve.web.process SETTINGS`, which are JSON.

It locks itself out of the truth before it opens the database or listens.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import uvicorn

from depthgauge._confine import end_with_parent
from depthgauge.errors import DepthgaugeError
from depthgauge.serve.lockout import lock_out
from depthgauge.serve.site import Site
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings


def main() -> None:
    """Locks, then listens until it is told to end."""
    told = json.loads(sys.argv[1])
    end_with_parent()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    site = Site(Path(told["root"]), told["database_url"])
    try:
        lock_out(site)
    except DepthgaugeError as error:
        sys.exit(f"error: {error}")
    settings = WebSettings(told["public_url"], tuple(told["trusted_proxies"]))
    uvicorn.run(
        make_app(site, site.open(), settings),
        host=told["host"],
        port=told["port"],
        proxy_headers=False,  # who is trusted is decided by us
        server_header=False,
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
