"""Existing estimates: a folder of files, in our own layout or a dataset's public layout."""

from __future__ import annotations

import os
from pathlib import Path

from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import ClipEstimate, Estimate, Inputs


class FolderOptions(MethodOptions):
    """Options of `folder`."""

    path: Path
    """The folder of estimates."""
    name: str | None = None
    """The method's name if the layout has it in the file names; None accepts any name if there is
    only one."""

    pattern: str | None = None
    """Where a sample's file is, `{id}_disp.npy`; None: as in the dataset's submissions."""

    tier: str = ""
    """In benchmarks with tiers, the tier of what the estimates were made from: `G0`, `G1` or `G2`.
    Without it they are in a group of their own."""

    def short_name(self) -> str:
        """The folder's own name."""
        return Path(os.path.abspath(self.path)).name


SPEC = MethodSpec(
    id="folder",
    title="Estimates from a folder of files",
    quantities=(),
    needs=("quantity", "finder"),
    options=FolderOptions,
    text_option="path",
    local=("path", "pattern", "tier"),
    keeps=False,
    whole_clips=True,
)


def estimate(inputs: Inputs, options: FolderOptions) -> Estimate | ClipEstimate:
    """Reads the sample's file, which the `finder` among the inputs locates."""
    found: Estimate | ClipEstimate = inputs["finder"].read(
        options.path, options.name, options.pattern
    )
    return found
