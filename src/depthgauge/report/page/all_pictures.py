"""Pictures of every sample of a run: pages beside the report, twelve samples each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from depthgauge._progress import Progress
from depthgauge.analysis.sample_choice import MOST_SAMPLES
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.store.record import Run
from depthgauge.errors import DepthgaugeError
from depthgauge.report.page.html import write_report
from depthgauge.report.page.model import Page
from depthgauge.report.pictures.sample import sample_pictures


def write_all_pictures(
    run: Run,
    page: Page,
    path: Path,
    *,
    data: Path | None = None,
    progress: Progress | None = None,
) -> Page:
    """Writes `<report>-pictures-1.html` and so on.

    Args:
        run: Whose samples are drawn.
        page: Its report.
        path: Where the report goes; the pictures go beside it.
        data: The dataset's folder, if it moved.
        progress: Called after each sample.

    Returns:
        The report with a note that names the pages.
    """
    maps = RunMaps(run, data)
    bare = replace(
        page,
        board=replace(page.board, columns=page.columns),
        layer_tables=(),
        degradations=(),
        profiles=(),
        samples={},
        examples=(),
        curves=None,
        stability=None,
        precision_recall={},
        radar=None,
        scatter={},
        rank_probabilities={},
        how=(),
        notes=(),
    )
    written: list[str] = []
    lost: list[str] = []
    groups = []
    for done, sample in enumerate(run.samples, start=1):
        try:
            found = maps.all_prepared(sample)
            curves = page.precision_recall
            groups.append(sample_pictures(maps, page.board, sample, found, curves=curves))
        except DepthgaugeError as error:
            lost.append(f"There are no pictures of {sample}: {error}")
        if groups and (len(groups) == MOST_SAMPLES or done == len(run.samples)):
            name = f"{path.stem}-pictures-{len(written) + 1}.html"
            title = f"{page.title}: pictures, page {len(written) + 1}"
            write_report(path.with_name(name), replace(bare, title=title, pictures=tuple(groups)))
            written.append(name)
            groups = []
        if progress is not None:
            progress(sample, done, len(run.samples))
    pages = ", ".join(written)
    said = [f"Pictures of all samples are beside this: {pages}."] if written else []
    return replace(page, notes=(*page.notes, *said, *lost))
