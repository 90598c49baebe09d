"""The web process: `python -m depthgauge.serve.web.process`.

It locks itself out of the truth before it opens the database or listens.
"""

from __future__ import annotations

import logging
import sys
import threading

import uvicorn

from depthgauge._confine import end_with_parent
from depthgauge.errors import DepthgaugeError
from depthgauge.serve.lockout import lock_out
from depthgauge.serve.process_settings import own_settings
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.boards import keep_warm


def main() -> None:
    """Locks, then listens until it is told to end."""
    known = own_settings()
    end_with_parent()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    try:
        lock_out(known.site)
    except DepthgaugeError as error:
        sys.exit(f"error: {error}")
    app = make_app(known.site, known.site.open(), known.settings)
    threading.Thread(target=keep_warm, args=(app,), daemon=True).start()
    uvicorn.run(
        app,
        host=known.host,
        port=known.port,
        proxy_headers=False,  # who is trusted is decided by us
        server_header=False,
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
