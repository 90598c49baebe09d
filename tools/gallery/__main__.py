"""`python -m tools.gallery`: serves the gallery until it is stopped."""

import sys
import tempfile
import threading
from pathlib import Path

from tools.gallery.server import served

with tempfile.TemporaryDirectory() as folder, served(Path(folder), 8010) as address:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    threading.Event().wait()
