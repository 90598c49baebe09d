"""Draws what people see in a ranking study, and writes its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.analysis.rank_study.maps import Geometry, study_maps
from depthgauge.analysis.rank_study.plan import FILE, RankPlan, read_plan
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.report.pictures.colours import paint, paint_normals
from depthgauge.report.pictures.error_maps import write_picture
from depthgauge.types import Image, Map, Mask, is_known

CONSENT = (
    "You will sort pictures by how good they look to you. Your answers are stored without your "
    "name and without the time of day, and are published only together with those of others. You "
    "can stop at any moment and withdraw everything that you said."
)


def make_rank_study(
    folder: Path,
    *,
    image: Image,
    truth: Map,
    estimates: Mapping[str, Map],
    questions: Mapping[str, str],
    title: str = "",
    scene: str = "scene",
    consent: str = CONSENT,
    repeats: int = 1,
    geometry: Geometry | None = None,
) -> RankPlan:
    """Writes a study of one scene: `study.toml` and the pictures.

    Args:
        folder: The study's folder, without a study.
        image: The picture that methods saw, (H, W, 3).
        truth: Its disparities.
        estimates: Disparities of each method.
        questions: What people are asked, by the name of the experiment.
        title: Of the study; by default the scene's name.
        scene: Name of the scene.
        consent: What people agree to before they begin.
        repeats: How many tasks each person gets a second time.
        geometry: For pictures of normals; None: the detailed variant is shown without them.

    Raises:
        Misuse: There is a study already, or nothing to rank.
        WrongShape: Maps do not have the size of the truth.
    """
    if (folder / FILE).exists():
        raise Misuse(f"{folder}: has a study already; choose another folder.")
    if len(estimates) < 2 or not questions:
        raise Misuse("a study needs two methods and a question.")
    for name, estimate in estimates.items():
        if estimate.shape != truth.shape:
            raise WrongShape(f"{name}: has shape {estimate.shape}, the truth {truth.shape}.")
    lines = [
        "schema = 1",
        f"title = {json.dumps(title or scene)}",
        f"consent = {json.dumps(consent)}",
        f"scene = {json.dumps(scene)}",
        f"methods = {json.dumps(sorted(estimates))}",
        f"repeats = {repeats}",
    ]
    for name, question in questions.items():
        about = [f"name = {json.dumps(name)}", f"question = {json.dumps(question)}"]
        lines += ["", "[[experiments]]", *about]
    folder.mkdir(parents=True, exist_ok=True)
    io.write_text(folder / FILE, "\n".join(lines) + "\n")
    try:
        plan = read_plan(folder)
    except BadData:
        (folder / FILE).unlink()
        raise
    _draw(folder / "pictures", image, truth, estimates, geometry)
    return plan


def _draw(
    folder: Path,
    image: Image,
    truth: Map,
    estimates: Mapping[str, Map],
    geometry: Geometry | None,
) -> None:
    known, shown = is_known(truth), study_maps(truth, estimates, geometry)
    everywhere = np.ones_like(known)
    colours = image if image.dtype == np.uint8 else np.rint(255 * np.clip(image, 0, 1))
    write_picture(folder / "image.png", np.asarray(colours, np.uint8))
    write_picture(folder / "truth.png", paint(truth, known, "viridis", *shown.range))
    io.write_bytes(folder / "edges.png", _overlay(shown.edges))
    if shown.true_normals is not None:
        write_picture(folder / "normals.png", paint_normals(shown.true_normals, everywhere))
    most = shown.largest_error
    for name, estimate in estimates.items():
        own = folder / "methods" / name
        write_picture(own / "disparity.png", paint(estimate, everywhere, "viridis", *shown.range))
        write_picture(own / "error.png", paint(truth - estimate, known, "RdBu_r", -most, most))
        if name in shown.normals:
            write_picture(own / "normals.png", paint_normals(shown.normals[name], everywhere))


def _overlay(edges: Mask) -> bytes:
    """Edges in a colour that no map has, transparent elsewhere, as PNG."""
    import cv2

    picture = np.zeros((*edges.shape, 4), np.uint8)
    picture[edges] = (200, 0, 255, 255)  # blue, green, red
    return bytes(cv2.imencode(".png", picture)[1])
