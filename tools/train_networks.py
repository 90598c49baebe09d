"""Trains our networks where only PyTorch and NumPy are installed: `python tools/train_networks.py`.

`depthgauge train` does the same where depthgauge is installed. Here, the packages above the
networks are replaced by empty ones, so that nothing else is imported. Arguments are those of the
command in `depthgauge.methods.nets._torch.training.command`.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


def without_the_rest() -> None:
    """Makes `depthgauge` and `depthgauge.methods` packages of their folders, without code."""
    for name in ("depthgauge", "depthgauge.methods"):
        package = types.ModuleType(name)
        package.__path__ = [str(SOURCE.joinpath(*name.split(".")))]
        sys.modules[name] = package


if __name__ == "__main__":
    without_the_rest()
    from depthgauge.methods.nets._torch.training.command import main

    main()
