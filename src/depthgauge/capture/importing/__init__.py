"""Photographs of several cameras, as they come from memory cards, into a session."""

from depthgauge.capture.importing.clocks import ClockFit, clock_offset
from depthgauge.capture.importing.options import ImportOptions
from depthgauge.capture.importing.pairing import Pairing, Shot, pair_photographs
from depthgauge.capture.importing.sources import Photograph, find_sources, list_photographs
from depthgauge.capture.importing.writing import Imported, import_photographs

__all__ = [
    "ClockFit",
    "ImportOptions",
    "Imported",
    "Pairing",
    "Photograph",
    "Shot",
    "clock_offset",
    "find_sources",
    "import_photographs",
    "list_photographs",
    "pair_photographs",
]
