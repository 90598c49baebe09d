"""Errors against density on the page: by settings and by confidence."""

import re
from dataclasses import replace

from depthgauge.analysis.confidence_curves import ConfidenceCurve, ConfidenceCurves
from depthgauge.analysis.settings_roc import Setting, SettingsRoc, roc_curve
from depthgauge.report.sections import confidence, settings

HOSTILE = "<script>alert(1)</script>"


def roc(*points):
    curve = roc_curve(Setting(f"{HOSTILE}:{k}", *point) for k, point in enumerate(points))
    return SettingsRoc(1.0, "px", {HOSTILE: curve}, curve)


def test_settings_are_drawn_and_names_are_escaped(page):
    text = str(settings.body(replace(page, settings_roc=roc((0, 40), (50, 10), (60, 20)))))
    assert "<script>alert" not in text
    assert "feasibility boundary, area 25.0 %" in text
    assert text.count("hollow") == 1  # the setting that another one beats
    assert "estimates off by more than 1 px in %" in text


def test_runs_without_settings_or_without_gaps_have_no_such_part(page):
    assert settings.body(page) is None
    assert settings.body(replace(page, settings_roc=roc((0, 40), (0, 10)))) is None


def test_methods_are_drawn_with_what_they_would_be_if_they_knew_their_errors(page):
    label = page.board.rows[0].label
    curve = ConfidenceCurve((1.0, 2.0, 4.0), (0.0, 1.0, 4.0))
    found = ConfidenceCurves("ause@all", "mae", "px", (20.0, 60.0, 100.0), {label: curve})
    text = str(confidence.body(replace(page, confidence=(found,))))
    assert "mae in px" in text
    for said in (rf"{label}: from 1\S* px", rf"{label}, best order: from 0\S* px"):
        assert re.search(rf"{said} at 20 to 4\S* px at 100", text)
    assert confidence.body(page) is None
