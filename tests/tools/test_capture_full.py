"""A full-size run: which stages it has, how it goes on after a stop, what its record says."""

import json

import pytest
from tools.capture_full import FullSession, StageFailed, measured_run
from tools.evidence import capture_full as record

from tools import capture_full

FULL = FullSession("desk", 3, width_px=320, patterns=4, samples=2)


@pytest.fixture
def stages(monkeypatch):
    """Stages that only say that they ran; one of them fails while it is in `fail`."""
    ran, fail = [], set()

    def run(command, before):
        name = command[1] if command[0] == "capture" else command[0]
        ran.append(command)
        return {
            "done": name not in fail,
            "cpu_s": before.get("cpu_s", 0.0) + 2.0,
            "wall_s": 3.0,
            "peak_gib": 0.5,
        }

    monkeypatch.setattr(capture_full, "_measured", run)
    return ran, fail


def places(tmp_path):
    work = tmp_path / "work"
    (work / "audit").mkdir(parents=True)
    (work / "audit" / "audit.json").write_text(json.dumps({"session": "desk-3"}))
    return tmp_path / "session", work


def test_every_step_runs_from_the_simulator_to_the_export(stages, tmp_path):
    found = measured_run(FULL, *places(tmp_path))
    names = [command[1] for command in stages[0]]
    assert names[:4] == ["capture-session", "calibrate", "register", "rectify"]
    assert names[-2:] == ["audit", "export"]
    assert {"--patterns=4", "--width=320", "--samples=2"} <= set(stages[0][0])
    assert list(found["stages"]) == ["simulate", *names[1:]]
    assert found["audit"] == {"session": "desk-3"}


def test_a_stopped_run_goes_on_with_the_stage_that_failed(stages, tmp_path):
    ran, fail = stages
    fail.add("rectify")
    where = places(tmp_path)
    with pytest.raises(StageFailed, match="rectify failed"):
        measured_run(FULL, *where)
    fail.clear()
    ran.clear()
    found = measured_run(FULL, *where)
    assert ran[0][1] == "rectify", "what was done is not done again"
    assert found["stages"]["rectify"]["cpu_s"] == 4.0, "both attempts"
    assert found["stages"]["calibrate"]["cpu_s"] == 2.0


def test_matching_fewer_patterns_leaves_the_work_folder_alone(stages, tmp_path):
    session, work = places(tmp_path)
    for name in ("calibrate", "register", "rectify", "spacetime"):
        (work / name).mkdir()
    used = capture_full.measured_matching(session, work, 3)
    assert used["cpu_s"] == 2.0
    copy = tmp_path / "work-3"
    assert sorted(path.name for path in copy.iterdir()) == ["calibrate", "rectify", "register"]
    assert stages[0][-1][-4:] == ["--work", str(copy), "--patterns", "3"]


def test_how_the_time_grows_with_the_patterns():
    full, few = ({"cpu_s": s, "peak_gib": 1.0} for s in (325.0, 100.0))
    *_, each = record._scaling(full, few)
    assert each.value == pytest.approx(225 / 75)


def test_what_a_command_used_is_measured(tmp_path):
    used = capture_full._measured(["--version"], {"cpu_s": 100.0, "peak_gib": 50.0})
    assert used["done"]
    assert 100.0 < used["cpu_s"] < 110.0
    assert used["peak_gib"] == 50.0
    assert not capture_full._measured(["no-such-verb"], {})["done"]


def test_the_recorded_session_is_one_that_nothing_was_tuned_on():
    assert record.FULL.width_px == 4112
    assert record.FULL.scene == "bathroom", "the model of error bars never saw one"
    assert record.FULL.seed > 124, "nor any other record this seed"


def test_budgets_can_fail():
    stages = {"spacetime": {"cpu_s": 9100.0, "wall_s": 1.0, "peak_gib": 9.0}}
    missed = [number.name for number in record._costs(stages) if not number.met]
    assert missed == ["spacetime: processor time, s", "all steps: peak memory, GiB"]
