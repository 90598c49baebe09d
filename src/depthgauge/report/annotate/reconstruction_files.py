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
from depthgauge._shorten import few_of_each_kind
from depthgauge.annotate.reconstruct.meshes import mesh_of, mesh_step, write_mesh
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.samples import require_size
from depthgauge.annotate.records.annotation import Picture
from depthgauge.annotate.records.files import history
from depthgauge.errors import BadFile
from depthgauge.report.annotate.reconstruction import draw_reconstruction

SCHEMA = 1
PREVIEW_PX = 300
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Written:
    """What was made and written."""

    folder: Path
    size_px: tuple[int, int]
    focal_px: float
    continuous: int
    smooth: int
    violated: tuple[str, ...]
    """Ids of strokes whose order does not hold."""
    notes: tuple[str, ...]
    residual: float

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "schema": SCHEMA,
            "folder": str(self.folder),
            "size_px": list(self.size_px),
            "focal_px": self.focal_px,
            "continuous_surfaces": self.continuous,
            "smooth_surfaces": self.smooth,
            "violated": list(self.violated),
            "notes": list(self.notes),
            "residual": self.residual,
        }


def write_reconstruction(
    record: Path,
    out: Path,
    *,
    image: Path | None = None,
    seed: int = 0,
    preview: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Written:
    """Reconstructs one file of records and writes maps, mesh, points and a picture.

    Args:
        record: The records.
        out: The folder; it is made where there is none.
        image: The photograph.
        seed: Of the reconstruction.
        preview: Work on a picture of at most 300 px.
        progress: Called before each step with its name, how many are done, how many there are.

    Raises:
        BadFile: Records or photograph cannot be read.
        WrongShape: The photograph is of another size than the annotated one.
        CannotWrite: The folder cannot be written.
    """
    step = _steps(progress)
    step("reading")
    told = history(record)
    annotation = told.annotation
    photograph = None if image is None else _photograph(image, annotation.picture)
    step("reconstructing")
    made = reconstruct(annotation, seed=seed, max_side_px=PREVIEW_PX if preview else None)
    step("writing maps")
    out.mkdir(parents=True, exist_ok=True)
    io.write_map(out / "depth.npy", made.depth, quantity="depth")
    io.write_map(out / "normals.npy", made.normals, quantity="normals")
    _write_labels(out / "labels.npy", made)
    if np.isfinite(made.depth).any():
        step("making the mesh")
        mesh = mesh_of(made, photograph)
        step("writing mesh.glb")
        write_mesh(out / "mesh.glb", mesh)
        step("writing mesh.ply")
        write_mesh(out / "mesh.ply", mesh)
        step("writing points.ply")
        write_mesh(out / "points.ply", replace(mesh, faces=None))
    step("drawing")
    draw_reconstruction(out / "picture.png", annotation, made, photograph)
    parts = made.segmentation
    return Written(
        out,
        made.camera.size_px,
        made.camera.focal_px[0],
        int((np.unique(parts.continuous) > 0).sum()),
        int((np.unique(parts.smooth) > 0).sum()),
        made.violated,
        few_of_each_kind([*told.notes, *made.notes, *_thinned(made)]),
        made.residual,
    )


def _steps(progress: Callable[[str, int, int], None] | None) -> Callable[[str], None]:
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
        f"The picture has {width * height / 1e6:.1f} million pixels: the mesh and the points have "
        f"one of {step} rows and columns; the maps have all."
    ]


def _photograph(path: Path, picture: Picture) -> NDArray[np.uint8]:
    """The annotated photograph as RGB bytes."""
    image = io.read_image(path)
    require_size(image, picture)
    if image.dtype != np.uint8:
        raise BadFile(f"{path}: expected a photograph with 8 bits a channel, found {image.dtype}.")
    colours = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    return np.asarray(colours, np.uint8)


def _write_labels(path: Path, made: Reconstruction) -> None:
    labels = made.segmentation.smooth.astype(np.float32)
    io.write_map(path, labels, quantity="labels")
