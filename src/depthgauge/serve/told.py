"""What a site tells its processes: in the environment, where other users of the machine cannot
read it; arguments of a command they can, and addresses have passwords.
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
class Told:
    """What every process of a site knows; `smtp` and `cluster` only those that need it."""

    site: Site
    settings: WebSettings
    host: str = ""
    port: int = 0
    smtp: str = ""
    cluster: str = ""

    def environment(self) -> dict[str, str]:
        """The environment of a process that is told this."""
        site = {**asdict(self.site), "root": str(self.site.root)}
        body = {**asdict(self), "site": site}
        return {**os.environ, VARIABLE: json.dumps(body)}


def told() -> Told:
    """What this process was told; it is not passed on to what this process starts."""
    body = json.loads(os.environ.pop(VARIABLE))
    site = {**body.pop("site")}
    settings = body.pop("settings")
    settings["trusted_proxies"] = tuple(settings["trusted_proxies"])
    root = Path(site.pop("root"))
    return Told(Site(root, **site), WebSettings(**settings), **body)
