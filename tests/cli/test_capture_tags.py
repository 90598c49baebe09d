"""`depthgauge capture tags` on a drawn session, and what it says of bad input."""

import shutil

import pytest


@pytest.fixture
def copied(tagged_session, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(tagged_session, tmp_path / "session")


def test_scores_of_an_exported_dataset(run, tagged_session, tmp_path):
    call = ("capture", "tags", tagged_session, "--board-pairs", "10", "--out", tmp_path / "data")
    ran = run(*call)
    assert ran.code == 0, ran.err
    assert "jar" in ran.out
    assert "1 scene written" in ran.out
    for benchmark, method in (("multi", "dis"), ("depth", "constant:value=1.1")):
        scored = run(
            *("run", f"layeredflow-{benchmark}@val", "--data", tmp_path / "data", "-m", method),
            *("--out", tmp_path / benchmark, "--workers", "0", "--json"),
        )
        assert scored.code == 0, scored.err


def test_everything_is_in_the_json(run, tagged_session):
    body = run("capture", "tags", tagged_session, "--board-pairs", "10", "--json").json()
    jar = body["objects"]["jar"]
    assert not jar["fresh"]
    assert jar["figures"]["correspondences"]["flow left"] == 44
    assert jar["truth"]["all"]["median_px"] < 0.1
    assert body["failed"] == {}
    page = (tagged_session / "work" / "tags" / "index.html").read_text()
    assert page.count("data:image/webp;base64,") == 2, "corners and identities"
    assert page.count("data:image/png;base64,") == 2, "calibration and rectification"
    assert "Tags lost to refraction" in page
    assert "found at one time only" in page


def test_bad_objects_are_warnings_and_none_left_is_an_error(run, copied):
    shutil.copytree(copied / "objects" / "jar", copied / "objects" / "bowl")
    (copied / "objects" / "bowl" / "1_1.png").unlink()
    call = ("capture", "tags", copied, "--board-pairs", "10")
    ran = run(*call)
    assert ran.code == 0
    assert "bowl: the photograph 1_1 is missing" in ran.err
    ran = run(*call, "--object", "bowl")
    assert ran.code == 1
    assert ran.err.splitlines()[-1].endswith("no object could be used; the warnings say why.")
    assert run(*call, "--object", "pot").code == 2
    ran = run("capture", "tags", copied)
    assert ran.code == 1
    assert "--board-pairs 10" in ran.err


def test_all_steps_are_not_for_sessions_with_tags(run, copied):
    ran = run("capture", "run", copied)
    assert ran.code == 2
    assert "has tagged objects and no patterns; use `capture tags`" in ran.err


def test_a_session_without_tags_is_one_sentence(run, copied):
    shutil.rmtree(copied / "objects")
    ran = run("capture", "tags", copied)
    assert ran.code == 1
    assert "there are no tagged objects" in ran.err
    assert ran.err.count("\n") == 1
