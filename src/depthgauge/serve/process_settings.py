"""Settings of the processes of a site, passed on in their environment.

Other users of the machine can read the arguments of a command but not its environment, and
addresses contain passwords.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from depthgauge.serve.site import Site
from depthgauge.serve.web.settings import WebSettings

VARIABLE = "DEPTHGAUGE_PROCESS"


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """What every process of a site needs; `smtp` and `cluster` only those that need it."""

    site: Site
    settings: WebSettings
    host: str = ""
    port: int = 0
    smtp: str = ""
    cluster: str = ""

    def environment(self) -> dict[str, str]:
        """The environment of a process with these settings."""
        site = {**asdict(self.site), "root": str(self.site.root)}
        body = {**asdict(self), "site": site}
        return {**os.environ, VARIABLE: json.dumps(body)}


def own_settings() -> ProcessSettings:
    """The settings of this process; they are not passed on to what this process starts."""
    body = json.loads(os.environ.pop(VARIABLE))
    site = {**body.pop("site")}
    settings = body.pop("settings")
    settings["trusted_proxies"] = tuple(settings["trusted_proxies"])
    root = Path(site.pop("root"))
    return ProcessSettings(Site(root, **site), WebSettings(**settings), **body)
