"""Who has the same thing open at this moment, and where they point.

It is kept in memory only: a tab that has not asked for a while is closed, or asleep.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

_PRESENT_S = 12.0
_MOST_TABS = 64
_MOST_ROOMS = 256
_MOST_PX = 1e6


@dataclass(frozen=True, slots=True)
class Here:
    """One open tab."""

    who: str
    """Whose tab it is; empty where only one person works."""
    at_px: tuple[float, float] | None
    """Where it points, if that is known."""
    moment: float


@dataclass
class Presence:
    """The tabs that have one thing open; every method may be called from any thread."""

    _tabs: OrderedDict[str, Here] = field(default_factory=OrderedDict)
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def seen(self, tab: str, who: str = "", at_px: tuple[float, float] | None = None) -> list[Here]:
        """Notes that a tab is open, and returns all others."""
        now = time.monotonic()
        with self._alone:
            for name in [n for n, here in self._tabs.items() if now - here.moment >= _PRESENT_S]:
                del self._tabs[name]
            before = self._tabs.pop(tab, None)
            if at_px is None and before is not None:
                at_px = before.at_px
            self._tabs[tab] = Here(who, at_px, now)
            while len(self._tabs) > _MOST_TABS:
                self._tabs.popitem(last=False)
            return [here for name, here in self._tabs.items() if name != tab]

    def leave(self, tab: str) -> None:
        """Notes that a tab was closed."""
        with self._alone:
            self._tabs.pop(tab, None)


@dataclass
class Rooms:
    """Presence by the name of what is open; the last used are kept."""

    _rooms: OrderedDict[tuple[str, ...], Presence] = field(default_factory=OrderedDict)
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def of(self, *name: str) -> Presence:
        """The tabs that have this open."""
        with self._alone:
            found = self._rooms.setdefault(name, Presence())
            self._rooms.move_to_end(name)
            while len(self._rooms) > _MOST_ROOMS:
                self._rooms.popitem(last=False)
            return found


def pointed(x: float | None, y: float | None) -> tuple[float, float] | None:
    """A place in a picture as a page sent it; None if it is none."""
    if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        return None
    return max(-_MOST_PX, min(_MOST_PX, x)), max(-_MOST_PX, min(_MOST_PX, y))


def told(others: list[Here], who: str) -> list[dict[str, Any]]:
    """What a person is told of the others: no names, only which tabs are their own."""
    return [{"own": here.who == who, "at_px": here.at_px} for here in others]
