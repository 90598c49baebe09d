"""The contact sheet of the manual pass: a page with a preview of every scene, to mark bad ones."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._stereogen.scene import read_scene
from depthgauge.errors import DepthgaugeError

PREVIEWS = "metadata/previews"
_TILE_PX = 200
_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1c2127; background: #fff }
figure { margin: 0 0 1rem; display: inline-block; vertical-align: top; width: 812px }
img { width: 812px; display: block; background: #eee }
figcaption { padding: .25rem 0 }
textarea { width: 100%; height: 7rem; font: 12px monospace }
.bad img { outline: 4px solid #b3412f }
"""
_SCRIPT = """
const list = document.getElementById('list');
document.addEventListener('change', () => {
  const marked = [...document.querySelectorAll('input:checked')];
  list.value = marked.map(box => box.value).join('\\n');
  document.querySelectorAll('figure').forEach(figure =>
    figure.classList.toggle('bad', figure.querySelector('input').checked));
});
"""


def write_sheet(root: Path, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Writes the page, and a preview of every scene that has none yet.

    A preview shows camera 00 at the first, middle and last frame, and camera 05 at the first.

    Args:
        root: The folder of the set.
        rows: Its manifest.
        path: The HTML file.
    """
    figures = []
    for row in rows:
        preview = preview_of(root, row["path"])
        problem = "" if preview.is_file() else _write_preview(root / row["path"], preview)
        words = html.escape(
            f"{row['map_name']}, {row['character_mesh']} {row['animation']}, "
            f"{row['focal_length_mm']:.0f} mm, gaps "
            + " ".join(f"{gap:.1f}" for gap in row["baselines_adjacent_cm"])
            + f" cm {problem}"
        )
        scene, picture = html.escape(row["path"]), preview.relative_to(root).as_posix()
        figures.append(
            f'<figure><label><input type="checkbox" value="{scene}"> {scene}</label>'
            f'<img loading="lazy" alt="{words}" src="{html.escape(picture)}">'
            f"<figcaption>{words}</figcaption></figure>"
        )
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Contact sheet</title>'
        f"<style>{_STYLE}</style><h1>Contact sheet</h1><p>Camera 00 at the first, middle and last "
        "frame; camera 05 at the first. Mark scenes to reject, save the list below as "
        "<code>rejected.txt</code>, and run <code>depthgauge make rig --out FOLDER --review "
        'rejected.txt</code>.</p><textarea id="list" readonly></textarea>'
        f"{''.join(figures)}<script>{_SCRIPT}</script></html>\n"
    )
    io.write_text(path, text)


def _write_preview(folder: Path, path: Path) -> str:
    """Writes a preview; returns why there is none."""
    try:
        scene = read_scene(folder)
        last = scene.length - 1
        views = [scene.image(c, f) for c, f in ((0, 0), (0, last // 2), (0, last), (5, 0))]
    except DepthgaugeError as error:
        return f"(cannot be shown: {error})"
    path.parent.mkdir(parents=True, exist_ok=True)
    gap = np.full((_TILE_PX, 4, 3), 255, np.uint8)
    tiles = [part for view in views for part in (_tile(view), gap)][:-1]
    io.write_image(path, np.concatenate(tiles, axis=1))
    return ""


def _tile(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import cv2

    size = (_TILE_PX, _TILE_PX)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def preview_of(root: Path, scene: str) -> Path:
    """The preview of a scene."""
    return root / PREVIEWS / (scene.replace("/", "-") + ".png")
