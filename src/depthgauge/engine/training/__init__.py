"""Datasets as packs of pairs that networks learn from."""

from depthgauge.engine.training.packing import KINDS, PackRules, pack

__all__ = ["KINDS", "PackRules", "pack"]
