"""Processes of methods: foreign code runs alone, and what it says is checked."""

from __future__ import annotations

from depthgauge.methods._process.client import MethodProcess, ProcessLost, describe_elsewhere
from depthgauge.methods._process.ending import last_words, why_it_ended

__all__ = [
    "MethodProcess",
    "ProcessLost",
    "describe_elsewhere",
    "last_words",
    "why_it_ended",
]
