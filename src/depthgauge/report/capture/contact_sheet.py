"""The contact sheet of an import: every shot in a row, to see whether the pairs are right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from depthgauge.capture.importing import Imported, Photograph
from depthgauge.io import write_text
from depthgauge.report.charts.density import data_url
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.encode import encode
from depthgauge.sessions import CAMERAS

_WIDTH_PX = 200


def write_contact_sheet(found: Imported, path: Path) -> Path:
    """Writes the sheet as one HTML file and returns its path.

    Args:
        found: What was imported, or would be.
        path: The file.
    """
    shots = found.pairing.shots
    cameras = [c for c in CAMERAS if any(c in shot.photographs for shot in shots)]
    rows = [
        {
            "name": name,
            "cells": [
                _cell(found, shot.photographs.get(camera), shot.apart_s.get(camera))
                for camera in cameras
            ],
        }
        for name, shot in zip(found.names, shots, strict=True)
    ]
    sections = [
        Section("shots", "Shots", "shots", _table(rows, cameras, found.warnings)),
    ]
    if found.pairing.alone:
        alone = [
            {"name": photo.camera, "cells": [_cell(found, photo, None)]}
            for photo in found.pairing.alone
        ]
        body = _table(alone, ["photograph"], ())
        sections.append(Section("alone", "Without a partner, left out", "without a partner", body))
    facts = [
        ("paired by", found.pairing.how),
        ("cameras", ", ".join(cameras)),
        ("without a partner", str(len(found.pairing.alone))),
    ]
    facts += [
        (f"clock of {camera}", f"{offset:+.2f} s ahead")
        for camera, offset in found.pairing.offsets_s.items()
    ]
    written = "were imported" if found.written else "would be imported"
    headline = f"{len(shots)} shots of kind {found.kind} {written}; every row must show one moment."
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_sections(f"Contact sheet: {found.kind}", headline, facts, sections))
    return path


def _table(rows: list[dict[str, Any]], cameras: list[str], warnings: tuple[str, ...]) -> Markup:
    return render("contact_sheet.html.j2", rows=rows, cameras=cameras, warnings=warnings)


def _cell(
    found: Imported, photo: Photograph | None, apart_s: float | None
) -> Mapping[str, Any] | None:
    if photo is None:
        return None
    thumb = found.thumbs[photo.path]
    height, width = thumb.pixels.shape[:2]
    note = [f"{thumb.size_px[0]}x{thumb.size_px[1]}, {thumb.bits} bits"]
    if photo.exif.orientation != 1:
        note.append(f"orientation {photo.exif.orientation}")
    if apart_s is not None:
        note.append(f"{apart_s:+.2f} s")
    return {
        "picture": Markup(data_url(encode(thumb.pixels, lossless=False))),
        "file": photo.path.name,
        "width": _WIDTH_PX,
        "height": round(_WIDTH_PX * height / width),
        "note": ", ".join(note),
    }
