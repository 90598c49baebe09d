"""Everything that a reconstruction gives, as files in one folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge._shorten import few_of_each_kind
from depthgauge.annotate.options import ReconstructionOptions
from depthgauge.annotate.reconstruct.meshes import mesh_of, mesh_step, write_mesh
from depthgauge.annotate.reconstruct.reconstruction import (
    PUBLISHED,
    Reconstruction,
    memory_bytes,
    reconstruct,
)
from depthgauge.annotate.reconstruct.samples import require_size
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.records.annotation import Annotation, Picture
from depthgauge.annotate.records.files import history
from depthgauge.annotate.shown_bytes import shown_bytes

SCHEMA = 1
PREVIEW_PX = 300
_STEPS = 7


@dataclass(frozen=True, slots=True)
class ReconstructionFiles:
    """A folder with the files of a reconstruction, and what they were made from."""

    folder: Path
    annotation: Annotation
    reconstruction: Reconstruction
    photograph: NDArray[np.uint8] | None
    notes: tuple[str, ...]
    """Notes about what was assumed, left out or contradictory; at most eight of each kind."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the maps."""
        return self.reconstruction.camera.size_px

    @property
    def continuous(self) -> int:
        """The number of continuous surfaces."""
        return _count(self.reconstruction.segmentation.continuous)

    @property
    def smooth(self) -> int:
        """The number of smooth surfaces."""
        return _count(self.reconstruction.segmentation.smooth)

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "size_px": list(self.size_px),
            "focal_px": self.reconstruction.camera.focal_px[0],
            "continuous_surfaces": self.continuous,
            "smooth_surfaces": self.smooth,
            "violated": list(self.reconstruction.violated),
            "notes": list(self.notes),
            "residual": self.reconstruction.residual,
        }


@signature_from(ReconstructionOptions)
def write_reconstruction(
    record: Path,
    out: Path,
    *,
    options: ReconstructionOptions,
    progress: Progress | None = None,
) -> ReconstructionFiles:
    """Reconstructs one file of records and writes maps, mesh and points.

    `report.annotate.reconstruction.draw_reconstruction` draws what this returns.

    Args:
        record: The records.
        out: The folder; it is created if there is none.
        progress: Called before each step.
        options: The fields of `ReconstructionOptions`, as keywords.

    Raises:
        BadFile: Records or photograph cannot be read.
        WrongShape: The photograph has another size than the annotated one.
        CannotWrite: The folder cannot be written.
    """
    step = _steps(progress)
    step("reading")
    told = history(record)
    annotation = told.annotation
    photograph = None if options.image is None else _photograph(options.image, annotation.picture)
    step(f"reconstructing{_memory(annotation.picture, options.preview)}")
    side_px = PREVIEW_PX if options.preview else None
    made = reconstruct(
        annotation,
        seed=options.seed,
        max_side_px=side_px,
        stop=None if options.seconds is None else Stop(options.seconds),
        **(PUBLISHED if options.as_published else {}),
    )
    step("writing maps")
    out.mkdir(parents=True, exist_ok=True)
    io.write_map(out / "depth.npy", made.depth, quantity="depth")
    io.write_map(out / "normals.npy", made.normals, quantity="normals")
    labels = made.segmentation.smooth.astype(np.float32)
    io.write_map(out / "labels.npy", labels, quantity="labels")
    if np.isfinite(made.depth).any():
        step("making the mesh")
        mesh = mesh_of(made, photograph)
        step("writing mesh.glb")
        write_mesh(out / "mesh.glb", mesh)
        step("writing mesh.ply")
        write_mesh(out / "mesh.ply", mesh)
        step("writing points.ply")
        write_mesh(out / "points.ply", replace(mesh, faces=None))
    notes = few_of_each_kind([*told.notes, *made.notes, *_thinned(made)])
    return ReconstructionFiles(out, annotation, made, photograph, notes)


def _memory(picture: Picture, preview: bool) -> str:
    """Says beforehand how much memory a large picture needs."""
    needed = memory_bytes(picture.width_px, picture.height_px)
    return "" if preview or needed < 1e9 else f", about {needed / 1e9:.1f} GB of memory"


def _count(labels: NDArray[np.int32]) -> int:
    return int((np.unique(labels) > 0).sum())


def _steps(progress: Progress | None) -> Callable[[str], None]:
    done = count()

    def step(name: str) -> None:
        if progress is not None:
            progress(name, next(done), _STEPS)

    return step


def _thinned(made: Reconstruction) -> list[str]:
    step = mesh_step(made.depth.shape)
    if step == 1:
        return []
    width, height = made.camera.size_px
    return [
        f"The picture has {width * height / 1e6:.1f} million pixels: the mesh and the points use "
        f"one of {step} rows and columns; the maps use all."
    ]


def _photograph(path: Path, picture: Picture) -> NDArray[np.uint8]:
    """The annotated photograph as RGB bytes."""
    image = io.read_image(path)
    require_size(image, picture)
    return shown_bytes(image)
