"""The page of the capture assistant: what to do next, and what it was concluded from."""

from __future__ import annotations

import io as streams
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from depthgauge._tables import show_share
from depthgauge.capture.assist import Assistance, CameraBoards
from depthgauge.capture.photographs.exposure import Exposure, names_of
from depthgauge.io import write_text
from depthgauge.report.capture import _panels as panels
from depthgauge.report.charts.density import data_url
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render

PAGE = "assistant.html"
_COLOUR = {"L": "#2c7bb6", "C": "#1b9e77", "R": "#d95f02"}
_EMPTY = "#fbb4ae"
_SHOTS = (
    *("photographs", "camera", "number", "size, px", "saturated, at most"),
    *("nearly black, at most", "sharpness, least of usual"),
)
_BRACKETS = (
    *("patterns", "camera", "number", "exposures", "saturated after merging, at most"),
    "nearly black in the longest, at most",
)
_TITLES = {"must": "First", "better": "Would be better"}


def write_assistant(found: Assistance, folder: Path) -> Path:
    """Writes the page into the session's folder and returns its path."""
    sections = [Section("next", "What to do next", "next", _advice(found, folder))]
    if found.boards:
        picture = Markup('<figure class="wide"><img src="{}" alt="{}"></figure>').format(
            data_url(_boards_picture(found)),
            "Where each camera saw the board, how it was tilted, and how sharp its edges are",
        )
        sections.append(Section("boards", "The board", "boards", picture))
    if rows := list(_rows(found)):
        body = render("assistant_shots.html.j2", columns=_SHOTS, rows=rows)
        sections.append(Section("shots", "Photographs", "photographs", body))
    if rows := list(_bracket_rows(found)):
        body = render("assistant_shots.html.j2", columns=_BRACKETS, rows=rows)
        sections.append(Section("brackets", "Bracketed patterns", "brackets", body))
    facts = [("board", _board_words(found))]
    facts += [
        (f"camera {name}", f"{len(seen.views)} boards, {100 * seen.covered():.0f} % covered")
        for name, seen in found.boards.items()
    ]
    facts += [
        (kind, ", ".join(f"{len(looked.names)} of {c}" for c, looked in by_camera.items()))
        for kind, by_camera in found.scene.items()
    ]
    path = folder / PAGE
    title = f"Capture assistant: {found.name}"
    write_text(path, render_sections(title, found.headline(), facts, sections))
    return path


def _advice(found: Assistance, folder: Path) -> Markup:
    groups = [
        (title, [one.text for one in found.advice if one.level == level])
        for level, title in _TITLES.items()
    ]
    return render(
        "assistant_advice.html.j2",
        groups=groups,
        any_advice=any(items for _, items in groups),
        session=folder,
    )


def _board_words(found: Assistance) -> str:
    if found.board is None:
        return "unknown"
    board = found.board
    size = f"{board.kind}, {board.columns}x{board.rows} inner corners"
    return f"{size} ({found.board_source})"


def _rows(found: Assistance) -> Iterator[list[str]]:
    for camera, seen in found.boards.items():
        count = len(seen.views) + len(seen.not_found)
        yield [
            "calibration",
            camera,
            str(count),
            _size([seen.size_px]),
            *_shares(seen.exposures),
            "-",
        ]
    for kind, by_camera in found.scene.items():
        for camera, looked in by_camera.items():
            sharp = list(looked.sharpness.values())
            least = min(sharp) / np.median(sharp) if sharp and np.median(sharp) > 0 else np.nan
            yield [
                *(kind, camera, str(len(looked.names)), _size(looked.sizes.values())),
                *_shares(looked.exposures),
                show_share(float(least)),
            ]


def _bracket_rows(found: Assistance) -> Iterator[list[str]]:
    """Patterns with the same exposures in one row."""
    for camera, own in found.brackets.items():
        for exposures in dict.fromkeys(own.exposures.values()):
            names = [name for name, theirs in own.exposures.items() if theirs == exposures]
            most = (
                max((shares[name] for name in names if name in shares), default=np.nan)
                for shares in (own.saturated, own.dark)
            )
            shown = (names_of(names), camera, str(len(names)), ", ".join(exposures))
            yield [*shown, *map(show_share, most)]


def _size(sizes: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{w}x{h}" for w, h in sorted(set(sizes))) or "-"


def _shares(exposures: Any) -> list[str]:
    found: list[Exposure] = list(exposures.values())
    if not found:
        return ["-", "-"]
    return [show_share(max(getattr(e, kind) for e in found)) for kind in ("saturated", "dark")]


# --- the picture ----------------------------------------------------------------------------------


def _boards_picture(found: Assistance) -> bytes:
    names = list(found.boards)
    figure = panels.new_figure(15.0, 0.8 + 3.7 * len(names), "")
    rows = figure.subplots(len(names), 3, squeeze=False, width_ratios=[1.5, 1, 1.3])
    for axes, name in zip(rows, names, strict=True):
        seen = found.boards[name]
        _coverage(axes[0], name, seen)
        _tilts(axes[1], name, seen)
        _edges(axes[2], name, seen)
    stream = streams.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _coverage(axes: Any, name: str, seen: CameraBoards) -> None:
    """Cells without a corner are red; corners are dots, boards are drawn around them."""
    width, height = seen.size_px
    empty = seen.cells() == 0
    rows, columns = empty.shape
    for row, column in np.argwhere(empty):
        x, y = width * column / columns, height * row / rows
        axes.fill_between([x, x + width / columns], y, y + height / rows, color=_EMPTY, lw=0)
    for corners in seen.views.values():
        hull = _hull(corners.pixels)
        axes.plot(*hull.T, color=_COLOUR[name], lw=0.8, alpha=0.6)
        axes.plot(*corners.pixels.T, ".", color=_COLOUR[name], ms=2.5)
    axes.set_xlim(0, max(width, 1))
    axes.set_ylim(max(height, 1), 0)
    axes.set_aspect("equal")
    covered = f"{100 * seen.covered():.0f} % covered"
    panels.bare(axes, f"{name}: {len(seen.views)} boards, {covered}; red: no corner yet")


def _hull(points: Any) -> Any:
    import cv2

    hull = cv2.convexHull(np.asarray(points, np.float32)).reshape(-1, 2)
    return np.concatenate([hull, hull[:1]])


def _tilts(axes: Any, name: str, seen: CameraBoards) -> None:
    tilts = np.array(list(seen.tilts_deg.values()), np.float64).reshape(-1, 2)
    for radius in (20, 45):
        axes.add_patch(_circle(radius))
    axes.plot(*tilts.T, "o", color=_COLOUR[name], ms=5, alpha=0.8)
    axes.set_xlim(-60, 60)
    axes.set_ylim(60, -60)
    axes.set_aspect("equal")
    axes.axhline(0, color="#bbbbbb", lw=0.6)
    axes.axvline(0, color="#bbbbbb", lw=0.6)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("leans right, degrees", fontsize=9)
    axes.set_ylabel("leans down, degrees", fontsize=9)
    axes.set_title("tilts; good: all around, 20 to 45", fontsize=10, loc="left")


def _circle(radius: float) -> Any:
    from matplotlib.patches import Circle

    return Circle((0, 0), radius, fill=False, color="#999999", ls="--", lw=0.8)


def _edges(axes: Any, name: str, seen: CameraBoards) -> None:
    poses = list(seen.edge_px)
    widths = [seen.edge_px[pose] for pose in poses]
    axes.bar(range(len(poses)), np.nan_to_num(widths), color=_COLOUR[name])
    axes.axhline(4.0, color="#d7191c", lw=0.8, ls="--")
    axes.set_xticks(range(len(poses)), poses, rotation=90, fontsize=7)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylabel("px", fontsize=9)
    axes.set_title("width of edges; above the line: blurred", fontsize=10, loc="left")
