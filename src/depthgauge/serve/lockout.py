"""The web process locks itself out of the truth, before it listens.

By Landlock, it keeps the folder of the web, the installation, and what the system needs; every
other file is closed to it for ever, whatever is added to the disk later. Where it runs as a user
who cannot open the workers' folder, that is enough, too. With neither, a site with hidden truth
does not start.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import depthgauge
from depthgauge._confine import landlock
from depthgauge.errors import BadData
from depthgauge.serve.site import Site

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc")
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")


def lock_out(site: Site) -> str:
    """Closes everything but what the web needs to this process and all that it starts.

    There must be no other threads yet.

    Returns:
        What protects the truth: `landlock`, `user`, or `nothing` where none is hidden.

    Raises:
        BadData: There is hidden truth and nothing protects it, or the web needs to read a folder
            that it is in.
    """
    try:
        hidden = hidden_folders(site)
    except PermissionError:
        return _lock(site, "user")
    require_outside(hidden)
    if landlock.works():
        way = _lock(site, "landlock")
        _require_closed([*hidden, site.workers])
        return way
    if hidden:
        raise BadData(
            f"{site.root}: has benchmarks with hidden truth, and this system has no Landlock "
            "(Linux 6.2 or newer) that keeps the web process from it; run web and workers as two "
            "users (see the operators' page), or remove these benchmarks."
        )
    return "nothing"


def _lock(site: Site, without: str) -> str:
    """Locks by Landlock if there is one; else says what there is without."""
    if not landlock.works():
        return without
    try:
        landlock.permit_only(readable_places(), [site.web, *map(Path, _DEVICES)])
    except OSError as error:
        raise BadData(f"{site.root}: Landlock does not work here ({error}).") from error
    os.environ["TMPDIR"] = str(site.web / "tmp")
    return "landlock"


def readable_places() -> list[Path]:
    """What the web process can read besides its own folder."""
    paths = sysconfig.get_paths()
    installed = [sys.prefix, sys.base_prefix, paths["purelib"], paths["platlib"], paths["stdlib"]]
    package = Path(depthgauge.__file__).parent
    return [package, *(Path(path) for path in (*installed, *_SYSTEM))]


def require_outside(folders: Iterable[Path]) -> None:
    """Requires that the web process has no need to read where these folders are.

    Raises:
        BadData: One is inside of what it reads.
    """
    for folder in folders:
        for place in readable_places():
            if folder.resolve().is_relative_to(place.resolve()):
                raise BadData(
                    f"{folder}: hidden truth cannot be inside of {place}, which the web process "
                    "reads; move it."
                )


def hidden_folders(site: Site) -> list[Path]:
    """All folders with hidden truth.

    Raises:
        PermissionError: This process may not know: it runs as another user.
    """
    files = sorted(p for p in (site.workers / "benchmarks").iterdir() if p.suffix == ".json")
    listed = [json.loads(path.read_text())["hidden"] for path in files]
    return [Path(hidden) for hidden in listed if hidden]


def _require_closed(folders: Iterable[Path]) -> None:
    """The last look: none of them can be listed."""
    for folder in folders:
        try:
            os.listdir(folder)
        except OSError:
            continue
        raise BadData(f"{folder}: can still be read by the web process; the site does not start.")
