"""The progress page of a training."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from depthgauge.errors import BadData
from depthgauge.report.training_page import read_curves, write_progress


def write_curves(folder, *, cut=False):
    lines = [
        {"step": s, "loss": 8 / s, "epe_px": 4 / s, "bad1": 9, "bad2": 30 / s, "seconds": 60 * s}
        for s in (1, 2, 4)
    ]
    judged = {"validation": {"step": 4, "epe_px": 1.25, "bad1": 9, "bad2": 7.5}, "seconds": 240}
    text = "\n".join(json.dumps(line) for line in [*lines, judged])
    (folder / "curves.jsonl").write_text(text + ('\n{"step": 5, "lo' if cut else "\n"))


def write_samples(folder, components):
    rng = np.random.default_rng(0)
    maps = rng.uniform(0, 9, (2, 2, 24, 32, components)).astype(np.float32)
    maps[0, :, :4] = np.nan
    pictures = rng.integers(0, 255, (2, 24, 32, 3), dtype=np.uint8)
    np.savez(folder / "samples.npz", first=pictures, truth=maps[0], estimate=maps[1])


@pytest.mark.parametrize("components", [1, 2])
def test_the_page_has_curves_and_pictures(tmp_path, components):
    write_curves(tmp_path)
    write_samples(tmp_path, components)
    text = write_progress(tmp_path, "Training of nets-flow").read_text()
    assert "the mean error on pairs that it has not learned from is 1.25 px; 7.5 %" in text
    assert text.count("<svg") >= 3
    assert text.count("data:image/webp") == 6


def test_it_reloads_itself_only_while_it_runs(tmp_path):
    write_curves(tmp_path)
    assert 'http-equiv="refresh"' in write_progress(tmp_path, running=True).read_text()
    assert 'http-equiv="refresh"' not in write_progress(tmp_path).read_text()


def test_a_line_that_is_cut_off_is_left_out(tmp_path):
    write_curves(tmp_path, cut=True)
    curves = read_curves(tmp_path)
    assert [entry["step"] for entry in curves.steps] == [1, 2, 4]
    assert curves.judged[0]["epe_px"] == 1.25


def test_the_loss_falls_on_the_page(tmp_path):
    """Larger values are higher, so y grows with the steps."""
    write_curves(tmp_path)
    text = write_progress(tmp_path).read_text()
    drawn = re.search(
        r'id="chart-loss-title".*?<path d="M([^"]*)" class="line s0"', text, re.DOTALL
    )
    heights = [float(point.split(" ")[1]) for point in drawn.group(1).split("L")]
    assert heights == sorted(heights)
    assert len(heights) == 3


def test_an_empty_folder_is_said(tmp_path):
    with pytest.raises(BadData, match="there is no such file"):
        write_progress(tmp_path)
    (tmp_path / "curves.jsonl").write_text("")
    assert "just begun" in write_progress(tmp_path).read_text()
