"""Turns an annotation into surfaces, normals, depth, a mesh and samples of a dataset."""

from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    ReconstructionCache,
    reconstruct,
)

__all__ = ["Reconstruction", "ReconstructionCache", "reconstruct"]
