import xml.etree.ElementTree as ET

import numpy as np

from depthgauge.analysis.precision_recall import PrecisionRecall
from depthgauge.report.charts.precision_recall import precision_recall_chart
from depthgauge.report.charts.styles import Style


def curve(label, recall, precision):
    r, p = np.array(recall), np.array(precision)
    f = 2 * r * p / np.maximum(r + p, 1e-9)
    return PrecisionRecall(label, np.arange(1, len(r) + 1) / (len(r) + 1), r, p, f)


def drawn(*curves):
    styles = {c.label: Style(f"s{k}", k) for k, c in enumerate(curves)}
    return str(precision_recall_chart({c.label: c for c in curves}, styles))


def test_every_method_has_a_curve_a_mark_and_its_f():
    text = drawn(
        curve("a<b>", [0.9, 0.5, 0.0], [0.3, 0.8, 0.0]), curve("c", [0.8, 0.2], [0.2, 0.4])
    )
    root = ET.fromstring(text)
    lines = [e for e in root if e.get("class") == "line s0"]
    assert len(lines) == 2  # the curve and the legend
    # The last threshold has nothing: it is no point of the curve.
    assert max(line.get("d").count("L") for line in lines) == 1
    assert "F 0.615 from 0.50 on" in text
    assert "a<b>" not in text
    assert "precision 0.800 and recall 0.500" in root.find("{*}desc").text


def test_the_best_method_stands_first_in_the_legend():
    text = drawn(curve("low", [0.5], [0.5]), curve("high", [0.9], [0.9]))
    assert text.index(">high, F") < text.index(">low, F")


def test_along_a_grey_line_f_is_the_same():
    root = ET.fromstring(drawn(curve("a", [0.5], [0.5])))
    (first, *_) = [e.get("d") for e in root if e.get("class") == "grid"][4:]
    points = [tuple(map(float, p.split(" "))) for p in first[1:].split("L")]
    r = np.array([(x - 46) / 380 for x, _ in points])
    p = np.array([(26 + 380 - y) / 380 for _, y in points])
    assert np.allclose(2 * r * p / (r + p), 0.5, atol=1e-3)
