"""Uncertainty and fusion as files: what `annotate advise` and `annotate fuse` write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge.annotate.advising.uncertainty import Uncertainty, uncertainty
from depthgauge.annotate.fusing.fusion import Fusion, fuse
from depthgauge.annotate.options import AdviceOptions, FusionOptions
from depthgauge.annotate.reconstruct.meshes import mesh_of, write_mesh
from depthgauge.annotate.records.files import read_records

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class AdvisedRecord:
    """How certain the reconstruction of one file of records is."""

    record: Path
    found: Uncertainty

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        depth = self.found.depth_percent
        known = depth[np.isfinite(depth)]
        return {
            "schema": SCHEMA,
            "record": str(self.record),
            "depth_percent": float(known.mean()) if known.size else None,
            "advice": [asdict(one) for one in self.found.advice],
        }


@dataclass(frozen=True, slots=True)
class FusedRecords:
    """A folder with one reconstruction of several people's records."""

    folder: Path
    records: tuple[Path, ...]
    fusion: Fusion

    @property
    def spread_deg(self) -> float:
        """Mean angle between people's normals and the fused ones."""
        spread = self.fusion.spread_deg
        known = spread[np.isfinite(spread)]
        return float(known.mean()) if known.size else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "records": [str(path) for path in self.records],
            "lines_of": str(self.records[self.fusion.lines_of]),
            "weights": list(self.fusion.weights),
            "spread_deg": self.spread_deg,
            "violated": list(self.fusion.reconstruction.violated),
        }


@signature_from(AdviceOptions)
def advise(record: Path, out: Path | None = None, *, options: AdviceOptions) -> AdvisedRecord:
    """How certain each pixel of a record's reconstruction is, and what would help most.

    Args:
        record: The file of records.
        out: A folder for depth_percent.npy and normals_deg.npy; None writes nothing.
        options: The fields of `AdviceOptions`, as keywords.

    Raises:
        BadFile: The records cannot be read.
        CannotWrite: The folder cannot be written.
    """
    found = uncertainty(read_records(record), seed=options.seed, most=options.most)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        # Neither is a depth or a normal; as labels they are stored as they are.
        io.write_map(out / "depth_percent.npy", found.depth_percent, quantity="labels")
        io.write_map(out / "normals_deg.npy", found.normals_deg, quantity="labels")
    return AdvisedRecord(record, found)


@signature_from(FusionOptions)
def fuse_records(records: Sequence[Path], out: Path, *, options: FusionOptions) -> FusedRecords:
    """Makes one reconstruction of several people's records of one picture.

    Args:
        records: One file for each person.
        out: The folder; it is created if there is none.
        options: The fields of `FusionOptions`, as keywords.

    Raises:
        BadFile: Records cannot be read.
        Misuse: They are of different pictures.
        CannotWrite: The folder cannot be written.
    """
    fusion = fuse([read_records(path) for path in records], seed=options.seed)
    made = fusion.reconstruction
    out.mkdir(parents=True, exist_ok=True)
    io.write_map(out / "depth.npy", made.depth, quantity="depth")
    io.write_map(out / "normals.npy", made.normals, quantity="normals")
    labels = made.segmentation.smooth.astype(np.float32)
    io.write_map(out / "labels.npy", labels, quantity="labels")
    io.write_map(out / "spread_deg.npy", fusion.spread_deg, quantity="labels")
    write_mesh(out / "mesh.glb", mesh_of(made))
    return FusedRecords(out, tuple(records), fusion)
