"""What the pages of one session share: the session, and the parts of it that are open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from depthgauge.capture.masks.segment_anything import SegmentAnything
from depthgauge.sessions import Session

Part = TypeVar("Part")


@dataclass
class SessionDesk:
    """A session on the desk; its parts are opened when a page first needs them."""

    session: Session
    work: Path
    networks: SegmentAnything | None = None
    """What the operator brought for the page that draws masks."""
    _parts: dict[type[Any], Any] = field(default_factory=dict)
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def part(self, kind: type[Part], make: Callable[[Session, Path], Part]) -> Part:
        """The one object of its kind for this session."""
        with self._alone:
            if kind not in self._parts:
                self._parts[kind] = make(self.session, self.work)
            found: Part = self._parts[kind]
            return found


def _desk(request: Request) -> SessionDesk:
    found: SessionDesk = request.app.state.session_desk
    return found


OnDesk = Annotated[SessionDesk, Depends(_desk)]
