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
