"""What is public about the data of a benchmark: licence, sizes, ranges, pictures of inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.datasets import DATASETS
from depthgauge.errors import DepthgaugeError
from depthgauge.serve.storage.models import Thumbnail
from depthgauge.types import Frames, Sample

THUMBNAIL_PX = 240
_IMAGES = ("left_image", "first_image", "image", "views")
_RANGES = ("disparity_range", "depth_range")
_CROISSANT, _MANIFEST = "croissant.json", "dataset.json"
_MOST_CROISSANT = 4 << 20


def data_facts(
    protocol: Protocol, data: Path, samples: Sequence[Sample], download: str = ""
) -> dict[str, Any]:
    """What the data page says, from inputs only.

    Args:
        protocol: The benchmark.
        data: The folder that participants have.
        samples: Its samples; their truth is not touched.
        download: Where participants find the data.
    """
    spec = DATASETS[protocol.dataset].spec
    manifest = _read_json(data / _MANIFEST)
    files = [path for path in data.rglob("*") if path.is_file() and not path.is_symlink()]
    return {
        "title": str(manifest.get("title") or spec.title),
        "licence": str(manifest.get("licence") or spec.licence),
        "cite": spec.cite,
        "homepage": spec.homepage,
        "layout": spec.sample_layout,
        "download": download,
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "croissant": _read_json(data / _CROISSANT),
        "samples": [_sample_facts(sample.fresh()) for sample in samples],
    }


def thumbnails(benchmark_id: str, samples: Sequence[Sample]) -> Iterator[Thumbnail]:
    """A small picture of the first image of each sample; samples without one have none."""
    from depthgauge.report.pictures.encode import picture_of_image

    for sample in samples:
        image = _image(sample.fresh())
        if image is not None:
            content = picture_of_image(image, "", wide=THUMBNAIL_PX).data
            digest = hashlib.sha256(content).hexdigest()
            yield Thumbnail(
                benchmark_id=benchmark_id, sample=sample.id, sha256=digest, content=content
            )


def _image(sample: Sample) -> Any | None:
    """The first image; of a light field the middle view, of a clip the first frame."""
    with suppress(DepthgaugeError, OSError, ValueError):  # a damaged one costs its picture only
        name = next((name for name in _IMAGES if name in sample.inputs), None)
        if name is None:
            return None
        image = sample.inputs[name]
        if isinstance(image, Frames):
            image = image[0]
        pixels = np.asarray(image)
        while pixels.ndim > 3:
            pixels = pixels[len(pixels) // 2]
        return pixels
    return None


def _sample_facts(sample: Sample) -> dict[str, Any]:
    image = _image(sample)
    found: dict[str, Any] = {
        "id": sample.id,
        "scene": sample.scene or "",
        "inputs": sorted(sample.inputs),
        "size_px": None if image is None else [int(image.shape[1]), int(image.shape[0])],
        "range": None,
    }
    for name in _RANGES:
        if name in sample.inputs:
            low, high = sample.inputs[name]
            found["range"] = [float(low), float(high)]
            break
    return found


def _read_json(path: Path) -> dict[str, Any]:
    """A small JSON file; empty if there is none."""
    try:
        if path.stat().st_size > _MOST_CROISSANT:
            return {}
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
