"""From an archive to released scores, by a worker."""

import json

import numpy as np
import pytest
from tests.serve import tiny as made

from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.errors import Misuse
from depthgauge.serve.storage.models import Benchmark, Submission
from depthgauge.serve.submissions import intake, registry, release, worker
from depthgauge.serve.submissions.messages import MESSAGES


def test_a_submission_is_scored_and_only_the_released_is_kept(
    site, database, tiny, add_user, send, read, tmp_path, real_sandbox
):
    sent = send(add_user())
    assert worker.work_once(site, database)
    assert not worker.work_once(site, database)
    found, scores = read(sent)
    assert (found.state, found.message, found.problems) == ("scored", "", [])
    for name, values in made.estimates().items():
        (tmp_path / "mine" / name).mkdir(parents=True)
        np.save(tmp_path / "mine" / name / "disparity.npy", values)
    own = evaluate(tiny.protocol, tiny.hidden, tmp_path / "mine").summary
    assert scores == {
        ("", "mae@all"): float(f"{own['mae@all'].value:.3g}"),
        ("", "badpix:1@all"): float(f"{own['badpix:1@all'].value:.3g}"),
    }
    assert scores["", "mae@all"] == 0.5
    assert not list((site.workers / "jobs").iterdir())


def test_without_hidden_truth_all_scores_are_kept(site, database, add_user, read, tiny_data):
    from depthgauge.serve.submissions import intake
    from depthgauge.serve.submissions.registry import add_benchmark

    add_benchmark(site, database, str(tiny_data / "tiny.toml"), tiny_data / "hidden")
    user, content = add_user(), made.archive()
    sha = made.sha256(content)
    upload = intake.begin_upload(site, database, user, "tiny", len(content), sha)
    with database.begin() as session:
        intake.append(site, intake.find_upload(session, user, upload), 0, content)
    sent = intake.submit(site, database, user, upload, intake.Entry("Mine"))
    worker.work_once(site, database)
    _, scores = read(sent)
    assert len(scores) == 4 * (1 + len(made.NAMES))
    assert scores["boxes", "density@all"] == 100


def test_a_dry_run_is_checked_and_not_scored(site, database, tiny, add_user, send, read):
    good = send(add_user(), dry_run=True)
    worker.work_once(site, database)
    found, scores = read(good)
    assert (found.state, found.message, scores) == ("scored", "dry-run", {})


def test_problems_of_the_author_are_all_told_and_nothing_is_scored(
    site, database, tiny, add_user, send, read
):
    maps = {"boxes": np.ones((10, 10), np.float32), "fence": np.full(made.SIZE, np.nan)}
    wrong_size = send(add_user(), made.archive({**made.estimates(), "boxes": maps["boxes"]}))
    empty = send(add_user("b@example.org"), made.archive({**made.estimates(), **maps}))
    missing = send(add_user("c@example.org"), made.archive({"boxes": made.estimates()["boxes"]}))
    for _ in range(3):
        worker.work_once(site, database)
    for sent, text in (
        (wrong_size, "the estimate is 10x10, the picture is 64x48"),
        (empty, "no finite value"),
        (missing, "no estimate for 'fence'"),
    ):
        found, scores = read(sent)
        assert (found.state, found.message, scores) == ("failed", "check", {})
        assert any(text in problem["problem"] for problem in found.problems), found.problems
        assert str(site.root) not in json.dumps(found.problems)
        assert found.message in MESSAGES


@pytest.mark.parametrize("value", [np.nan, 1e6, -5.0, made.HIGH + 1], ids=str)
def test_one_pixel_tells_nothing(site, database, tiny, add_user, send, read, value):
    """A map that is missing, or impossible, but for one pixel, would tell that pixel's truth."""
    maps = {name: np.full(made.SIZE, value, np.float32) for name in made.NAMES}
    for values in maps.values():
        values[10, 10] = 12.0
    sent = send(add_user(), made.archive(maps))
    worker.work_once(site, database)
    found, scores = read(sent)
    assert found.state == "failed"
    assert found.message in ("sparse", "check")
    assert scores == {}


@pytest.mark.parametrize("value", [np.nan, 1e6], ids=str)
def test_one_pixel_would_tell_its_truth_without_the_defence(
    site, database, tiny, add_user, send, read, value, monkeypatch
):
    """Why the least density counts what is inside the range: else this works, with any digits."""
    from depthgauge.serve.submissions import sandbox

    monkeypatch.setattr(sandbox, "inside_density", lambda *_: 1.0)
    monkeypatch.setattr(worker, "distrust", lambda *_: None)
    monkeypatch.setattr("depthgauge.engine.scoring.check.check_estimates", lambda *_: [])
    monkeypatch.setattr(release, "rounded", lambda value, _: value)
    maps = {name: np.full(made.SIZE, value, np.float32) for name in made.NAMES}
    for name, values in maps.items():
        values[10, 10] = made.LOW + 0.01 if name == "boxes" else made.truths()[name][10, 10]
    sent = send(add_user(), made.archive(maps))
    worker.work_once(site, database)
    _, scores = read(sent)
    # The pooled error is half the distance of the one pixel of `boxes`.
    stolen = 2 * scores["", "mae@all"] + made.LOW + 0.01
    assert stolen == pytest.approx(float(made.truths()["boxes"][10, 10]), abs=1e-4)


def _link(estimates, tiny):
    path = estimates / "boxes" / "disparity.npy"
    path.unlink()
    path.symlink_to(next(tiny.hidden.rglob("boxes/truth/disparity.npy")))


def _folder_link(estimates, tiny):
    (estimates / "more").symlink_to(tiny.hidden)


def _other_format(estimates, _tiny):
    (estimates / "boxes" / "disparity.exr").write_bytes(b"for another decoder")


def _one_pixel(estimates, _tiny):
    values = np.full(made.SIZE, np.nan, np.float32)
    values[3, 3] = 9
    np.save(estimates / "boxes" / "disparity.npy", values)


@pytest.mark.parametrize("leave", [_link, _folder_link, _other_format, _one_pixel])
def test_a_sandbox_that_was_taken_over_gains_nothing(
    site, database, tiny, add_user, send, read, leave, monkeypatch
):
    from pathlib import Path

    from depthgauge.serve.submissions import sandbox

    def taken_over(_site, _job, task):
        said = sandbox.check(task)
        leave(Path(task["folder"]) / "estimates", tiny)
        return said

    monkeypatch.setattr(worker, "run_sandbox", taken_over)
    sent = send(add_user())
    worker.work_once(site, database)
    found, scores = read(sent)
    assert (found.state, found.message, scores) == ("failed", "not-scored", {})
    assert "sandbox" in (site.workers / "logs" / f"{sent.id}.txt").read_text()


def test_the_least_density_is_of_every_sample(site, database, tiny, add_user, send, read):
    maps = made.estimates()
    maps["fence"][: made.SIZE[0] // 6] = np.nan  # five sixths are left
    sent = send(add_user(), made.archive(maps))
    worker.work_once(site, database)
    found, _ = read(sent)
    assert found.message == "sparse"
    assert [p["sample"] for p in found.problems] == ["fence"]
    assert "83.3 %" in found.problems[0]["problem"]


def test_errors_while_scoring_reach_the_log_only(
    site, database, tiny, add_user, send, read, monkeypatch
):
    from depthgauge.errors import BadData

    def fail(*_args, **_more):
        raise BadData("the truth of boxes is 12.345")

    monkeypatch.setattr(worker, "evaluate", fail)
    sent = send(add_user())
    worker.work_once(site, database)
    found, scores = read(sent)
    assert (found.state, found.message, found.problems, scores) == ("failed", "not-scored", [], {})
    assert "12.345" in (site.workers / "logs" / f"{sent.id}.txt").read_text()


def test_the_sandbox_cannot_open_the_truth(site, database, tiny, tmp_path):
    """What runs there, whatever it is, finds neither the truth nor the site."""
    import subprocess
    import sys

    secret = tiny.hidden / "dataset.json"
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from depthgauge._confine.ways import hide\n"
        "hide([Path(p) for p in json.loads(sys.argv[1])])\n"
        "for path in sys.argv[2:]:\n"
        "    try:\n"
        "        open(path).read(); print('read')\n"
        "    except OSError as error:\n"
        "        print(type(error).__name__)\n"
    )
    hide = json.dumps([str(site.web), str(site.workers / "benchmarks"), str(tiny.hidden)])
    (tmp_path / "link").symlink_to(secret)
    files = [secret, tmp_path / "link", site.web / "site.db", tiny.data / "dataset.json"]
    run = subprocess.run(
        [sys.executable, "-c", code, hide, *map(str, files)], capture_output=True, text=True
    )
    *hidden, public = run.stdout.split()
    assert len(hidden) == 3, run.stderr
    assert set(hidden) <= {"PermissionError", "FileNotFoundError"}
    assert public == "read"


def test_the_sandbox_has_no_network():
    """Neither it nor what it starts makes a socket, in any way; files and pipes work."""
    import subprocess
    import sys

    code = (
        "import ctypes, errno, os, socket, subprocess, sys\n"
        "from depthgauge._confine.network import close_network\n"
        "socket.socket().close()\n"
        "close_network()\n"
        "def refused(make):\n"
        "    try:\n"
        "        make()\n"
        "    except OSError as error:\n"
        "        return error.errno == errno.EACCES\n"
        "kinds = (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK)\n"
        "print(all(refused(lambda: socket.socket(kind)) for kind in kinds))\n"
        "print(refused(lambda: socket.create_connection(('127.0.0.1', 9))))\n"
        "print(ctypes.CDLL(None, use_errno=True).syscall(425, 1, 0), ctypes.get_errno())\n"
        "child = 'import socket; socket.socket()'\n"
        "print(subprocess.run([sys.executable, '-c', child], stderr=-3).returncode)\n"
        "os.close(os.dup(1)), os.pipe()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["True", "True", "-1", "13", "1"], run.stderr


def test_a_sandbox_whose_network_cannot_be_closed_does_nothing(monkeypatch):
    import io

    from depthgauge.serve.submissions import sandbox

    def fail():
        raise OSError("no seccomp")

    monkeypatch.setattr(sandbox, "close_network", fail)
    monkeypatch.setattr(sandbox, "check", pytest.fail)
    monkeypatch.setattr("sys.stdin", io.StringIO('{"hide": [], "limits": {}}'))
    with pytest.raises(SystemExit, match="no seccomp"):
        sandbox.main()


def test_the_sandbox_has_limits(
    site, database, tiny, add_user, send, read, monkeypatch, real_sandbox
):
    monkeypatch.setattr(worker, "LIMITS", {"AS": 1 << 28})
    sent = send(add_user())
    worker.work_once(site, database)
    found, _ = read(sent)
    assert (found.state, found.message) == ("failed", "too-long")
    assert (site.workers / "logs" / f"{sent.id}.txt").is_file()


def test_what_is_released_is_rounded_before_it_is_stored():
    assert release.rounded(1234567.0, 3) == 1230000.0
    assert release.rounded(float("inf"), 3) is None


def test_scores_of_hidden_truth_are_released_in_steps_by_default(
    site, database, add_user, tmp_path
):
    """Twelve samples, one score: a mean error of 0.53 is told as 0.4 or 0.6, always the same."""
    from depthgauge.serve.web import views

    rng = np.random.default_rng(0)
    names = [f"s{number:02}" for number in range(12)]
    maps = {name: rng.uniform(8, 12, made.SIZE).astype(np.float32) for name in names}
    made.write_data(tmp_path, maps=maps)
    toml = made.TOML.replace('["mae@all", "badpix:1@all"]', '["mae@all"]').replace(
        "digits = 3\n", ""
    )
    (tmp_path / "tiny.toml").write_text(toml)
    folders = {"data": tmp_path / "public", "hidden": tmp_path / "hidden"}
    found = registry.add_benchmark(site, database, str(tmp_path / "tiny.toml"), **folders)
    assert found.rounding.step == pytest.approx(0.2165, abs=1e-4)
    again = registry.add_benchmark(site, database, str(tmp_path / "tiny.toml"), **folders)
    assert again.rounding == found.rounding  # else two adds would tell two roundings
    with database.begin() as session:
        row = session.get_one(Benchmark, "tiny")
        assert row.monthly_quota == 1
        row.monthly_quota = 9
        assert views.benchmark_view(session, row, rows=False)["step"] == found.rounding.step
        assert found.rounding.secret not in str(row.facts)
    told = set()
    ann = add_user()
    for number in range(4):
        error = np.float32(0.53 + number * 1e-4)
        content = made.archive({name: values + error for name, values in maps.items()})
        upload = intake.begin_upload(
            site, database, ann, "tiny", len(content), made.sha256(content)
        )
        with database.begin() as session:
            intake.append(site, intake.find_upload(session, ann, upload), 0, content)
        sent = intake.submit(site, database, ann, upload, intake.Entry(f"M{number}"))
        assert worker.work_once(site, database)
        with database.begin() as session:
            scores = session.get_one(Submission, sent.id).scores
            told.add(tuple((s.sample, s.score, s.value) for s in scores))
    assert told <= {(("", "mae@all", 0.4),), (("", "mae@all", 0.6),)}


def test_too_few_samples_for_hidden_scores_are_refused_with_the_way_out(
    site, database, tiny_data, tmp_path
):
    (tmp_path / "tiny.toml").write_text(made.TOML.replace("digits = 3\n", ""))
    folders = {"data": tiny_data / "public", "hidden": tiny_data / "hidden"}
    with pytest.raises(Misuse, match=r"2 scores of 2 samples.*--digits"):
        registry.add_benchmark(site, database, str(tmp_path / "tiny.toml"), **folders)
    found = registry.add_benchmark(site, database, str(tmp_path / "tiny.toml"), **folders, digits=2)
    assert found.rounding is None
    assert found.protocol.hidden.digits == 2
