"""Tables and pictures: the only room that rounds, formats or draws.

`depthgauge.report(run)` writes the page of a run, or gives its leaderboard as a table: see
`depthgauge.report.run_report.report`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableRoom(ModuleType):
    """`dg.report` is a function of the interface, and the room of the same name.

    Importing a module of the room makes `depthgauge.report` the room, so the room can be called.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        from depthgauge.report.run_report import report

        return report(*args, **options)


sys.modules[__name__].__class__ = _CallableRoom
