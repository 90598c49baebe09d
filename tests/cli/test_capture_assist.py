"""`depthgauge capture assist` on a session that has just begun."""

import numpy as np

from depthgauge import io
from depthgauge.sessions import Board, Session, write_session


def test_an_unfinished_session_gets_a_page(run, tmp_path):
    session = tmp_path / "kitchen"
    for camera in "LR":
        (session / "passive" / camera).mkdir(parents=True)
        io.write_image(session / "passive" / camera / "im0.png", np.full((40, 60), 90, np.uint8))
    write_session(Session(session, "kitchen", Board(9, 6, 0.03)))
    ran = run("capture", "assist", session)
    assert ran.code == 0, ran.err
    assert "Not ready" in ran.out
    assert "! Photograph the board with camera L" in ran.out
    page = (session / "assistant.html").read_text()
    assert "What to do next" in page
    assert "passive" in page
    body = run("capture", "assist", session, "--json").json()
    assert body["shots"]["passive"] == {"L": ["im0"], "R": ["im0"]}
    assert {one["level"] for one in body["advice"]} == {"must"}


def test_brackets_are_on_the_page(run, tmp_path):
    session = tmp_path / "kitchen"
    bright = np.full((40, 60), 90, np.uint8)
    bright[:10] = 255
    for camera in "LR":
        (session / "pattern" / camera).mkdir(parents=True)
        for name in ("0@0.5", "0@2", "1@0.5", "1@2"):
            io.write_image(session / "pattern" / camera / f"{name}.png", bright)
    write_session(Session(session, "kitchen", Board(9, 6, 0.03)))
    ran = run("capture", "assist", session)
    assert ran.code == 0, ran.err
    assert (
        "pattern/L: 2 bracketed patterns, exposures 0.5, 2; once merged, at most 25.0 %" in ran.out
    )
    page = (session / "assistant.html").read_text()
    assert "Bracketed patterns" in page
    assert "<td>0.5, 2</td><td>25.0 %</td><td>0.0 %</td>" in page
    body = run("capture", "assist", session, "--json").json()
    assert body["brackets"]["R"]["saturated_after_merging"] == {"0": 0.25, "1": 0.25}
