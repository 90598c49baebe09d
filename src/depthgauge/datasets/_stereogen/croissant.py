"""Croissant 1.1 metadata of a dataset of scenes, with the fields of responsible use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge.datasets._stereogen import names
from depthgauge.datasets._stereogen.writing import file_hash
from depthgauge.errors import BadData

CROISSANT = "croissant.json"
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet "
    "references regex repeated replace samplingRate separator source subField transform"
)
_COLUMNS: dict[str, tuple[str, str]] = {
    "scene_id": ("sc:Text", "Name of the scene's folder."),
    "scene_label": ("sc:Text", "Map and number of the scene."),
    "split": ("sc:Text", "train or eval."),
    "regime": ("sc:Text", "How the gaps between cameras were drawn."),
    "eval_subset": ("sc:Text", "Whether the map of an eval scene also appears in train."),
    "map_name": ("sc:Text", "The map in which the scene takes place."),
    "character_mesh": ("sc:Text", "The animated subject."),
    "animation": ("sc:Text", "How the subject moves."),
    "num_frames": ("sc:Integer", "Frames of every video."),
    "focal_length_mm": ("sc:Float", "Focal length."),
    "sensor_width_mm": ("sc:Float", "Width of the sensor."),
    "sensor_height_mm": ("sc:Float", "Height of the sensor."),
    "aperture_fstop": ("sc:Float", "Aperture of the lens, if it matters."),
    "baseline_min_cm": ("sc:Float", "Smallest baseline of all pairs of cameras."),
    "baseline_max_cm": ("sc:Float", "Largest baseline of all pairs of cameras."),
    "baseline_mean_cm": ("sc:Float", "Mean baseline of all pairs of cameras."),
    "baseline_std_cm": ("sc:Float", "Deviation of the baselines, as of a population."),
    "path": ("sc:Text", "The scene's folder."),
}


@dataclass(frozen=True, slots=True)
class ResponsibleUse:
    """The eight fields of responsible use; the defaults are true of rendered scenes."""

    intended_uses: str = (
        "Evaluation and development of stereo generation, stereo matching, view synthesis and "
        "depth estimation under known baselines, lenses and camera motion."
    )
    not_recommended_uses: str = (
        "Not recommended: conclusions about real footage without a study on real data; "
        "surveillance, identification of people, or claims about human behaviour."
    )
    limitations: str = (
        "All scenes are synthetic. Light, materials, motion and sensors are simplified; filters of "
        "collision, visibility and framing shape the distribution of baselines."
    )
    biases: str = (
        "Maps, subjects and motions come from a small procedural library, so colours, shapes and "
        "layouts are not representative of real places."
    )
    personal_information: str = "None: no person was recorded and no figure is modelled on one."
    social_impact: str = (
        "Better tests of stereo generation can expose methods that invent geometry; better methods "
        "could also help to make misleading stereo footage."
    )
    generation: str = (
        "Made by depthgauge: scenes, camera rows and trajectories are proposed at random from a "
        "seed, filtered by ray tests, and rendered with exact depth."
    )
    preprocessing: str = (
        "Colours are encoded as H.264, depth without loss as 16-bit codes with a recorded scale. "
        "Scenes that fail checks of frames, depth or visibility are removed."
    )


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """What a publisher says of a dataset."""

    name: str
    description: str
    licence: str = "https://creativecommons.org/licenses/by/4.0/"
    url: str = ""
    creator: str = ""
    published: str = ""
    """Date, such as 2026-11-16."""
    version: str = "1.0.0"
    cite: str = ""
    use: ResponsibleUse = field(default_factory=ResponsibleUse)


def write_croissant(root: Path, card: DatasetCard) -> Path:
    """Writes `croissant.json` for a dataset whose manifest exists.

    Raises:
        BadData: There is no manifest; `write_lists` writes it.
    """
    root = Path(root)
    for name in (names.MANIFEST, names.DESCRIPTIONS):
        if not (root / name).is_file():
            raise BadData(f"{root / name}: does not exist; write_lists({str(root)!r}) writes it.")
    path = root / CROISSANT
    io.write_text(path, json.dumps(croissant_json(root, card), indent=1) + "\n")
    return path


def croissant_json(root: Path, card: DatasetCard) -> dict[str, Any]:
    """The metadata as JSON-LD."""
    facts = {
        "url": card.url,
        "datePublished": card.published,
        "citeAs": card.cite,
        "creator": {"@type": "sc:Organization", "name": card.creator} if card.creator else "",
    }
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": card.name,
        "description": card.description,
        "license": card.licence,
        "version": card.version,
        **{name: value for name, value in facts.items() if value},
        **_responsible(card.use),
        "distribution": _distribution(root),
        "recordSet": [_scenes()],
    }


def _context() -> dict[str, Any]:
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "dct": "http://purl.org/dc/terms/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "description": {"@container": "@language"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "name": {"@container": "@language"},
        **{term: f"cr:{term}" for term in _TERMS.split()},
    }


def _responsible(use: ResponsibleUse) -> dict[str, Any]:
    return {
        "rai:dataUseCases": [use.intended_uses, use.not_recommended_uses],
        "rai:dataLimitations": use.limitations,
        "rai:dataBiases": use.biases,
        "rai:personalSensitiveInformation": use.personal_information,
        "rai:dataSocialImpact": use.social_impact,
        "rai:dataCollection": use.generation,
        "rai:dataPreprocessingProtocol": use.preprocessing,
    }


def _distribution(root: Path) -> list[dict[str, Any]]:
    lists = [
        _file(root, "manifest", names.MANIFEST, "A row per scene."),
        _file(root, "descriptions", names.DESCRIPTIONS, "What each scene shows, in words."),
    ]
    sets = (
        ("colour-videos", "**/cam_*_rgb.mp4", "video/mp4", "Colour of each camera, H.264."),
        ("depth-videos", "**/cam_*_depth.mkv", "video/x-matroska", "Depth of each camera, FFV1."),
        ("baselines", f"**/{names.BASELINE}", "application/json", "Lens and baselines."),
        ("trajectories", f"**/{names.TRAJECTORY}", "application/json", "Poses of all cameras."),
    )
    return lists + [
        {
            "@type": "cr:FileSet",
            "@id": name,
            "name": name,
            "description": about,
            "encodingFormat": kind,
            "includes": pattern,
        }
        for name, pattern, kind, about in sets
    ]


def _file(root: Path, name: str, path: str, about: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": about,
        "contentUrl": path,
        "encodingFormat": "application/jsonlines",
        "sha256": file_hash(root / path),
    }


def _scenes() -> dict[str, Any]:
    def column(name: str, kind: str, about: str, **more: Any) -> Mapping[str, Any]:
        source = {"fileObject": {"@id": "manifest"}, "extract": {"column": name}}
        return {
            "@type": "cr:Field",
            "@id": f"scenes/{name}",
            "name": name,
            "description": about,
            "dataType": kind,
            "source": source,
            **more,
        }

    fields: Sequence[Mapping[str, Any]] = [
        *(column(name, kind, about) for name, (kind, about) in _COLUMNS.items()),
        column(
            "baselines_adjacent_cm",
            "sc:Float",
            "Gaps between neighbouring cameras, from left to right.",
            isArray=True,
            arrayShape="-1",
        ),
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": "scenes",
        "name": "scenes",
        "description": "One record per scene.",
        "key": {"@id": "scenes/path"},
        "field": list(fields),
    }
