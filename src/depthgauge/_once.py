"""Properties that are computed once, without a lock.

Up to Python 3.11, `functools.cached_property` holds a lock while it computes. A process that is
forked while another thread does so never gets it, and hangs.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:
    _NOTHING = object()

    class cached_property(functools.cached_property):  # noqa: N801  # used like the other one
        """As `functools.cached_property`; of two threads that compute it, one result is kept."""

        def __get__(self, instance, owner=None):
            """The value, computed when it is first asked for."""
            if instance is None:
                return self
            found = instance.__dict__.get(self.attrname, _NOTHING)
            if found is _NOTHING:
                found = instance.__dict__.setdefault(self.attrname, self.func(instance))
            return found
