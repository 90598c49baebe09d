"""Methods, one file each: they turn the inputs of a sample into an estimate.

>>> find_method("sgbm:block_size=7").label
'sgbm:block_size=7'
"""

from __future__ import annotations

from depthgauge.methods._calls.isolated import isolated
from depthgauge.methods._calls.meter import Usage, metered
from depthgauge.methods._find import find_method, find_methods
from depthgauge.methods._method import Method
from depthgauge.methods._spec import METHODS, MethodKind, MethodOptions, MethodSpec

__all__ = [
    "METHODS",
    "Method",
    "MethodKind",
    "MethodOptions",
    "MethodSpec",
    "Usage",
    "find_method",
    "find_methods",
    "isolated",
    "metered",
]
