"""A whole site: real processes, the client, and the command line."""

import json
import re
import socket
import threading
from itertools import pairwise

import pytest
from click.testing import CliRunner
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD

from depthgauge.cli import depthgauge as program
from depthgauge.errors import BadData, Misuse
from depthgauge.serve import client, running
from depthgauge.serve.accounts import people
from depthgauge.serve.storage.models import AuditEntry, Phase, Submission, User
from depthgauge.serve.web.settings import WebSettings


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def folder(tmp_path):
    """Estimates as authors have them: among other files."""
    import numpy as np

    for name, values in made.estimates().items():
        (tmp_path / "mine" / name).mkdir(parents=True)
        np.save(tmp_path / "mine" / name / "disparity.npy", values)
    (tmp_path / "mine" / "notes.txt").write_text("not sent")
    (tmp_path / "mine" / ".cache").mkdir()
    (tmp_path / "mine" / ".cache" / "x.npy").write_text("not sent")
    return tmp_path / "mine"


def test_a_site_takes_scores_and_shows_a_submission(
    site, database, tiny, tiny_data, add_user, folder
):
    """The supervisor, a locked web process, a worker, and `depthgauge submit`."""
    with database.begin() as session:
        token = people.make_token(session, add_user(), "test", ("submit", "read"), 1)
    port, stop, ready = free_port(), threading.Event(), threading.Event()
    url = f"http://127.0.0.1:{port}"
    thread = threading.Thread(
        target=running.run_site,
        args=(site, WebSettings(url)),
        kwargs={"host": "127.0.0.1", "port": port, "stop": stop, "on_ready": ready.set},
    )
    thread.start()
    try:
        assert ready.wait(30)
        arguments = ["submit", url, "tiny", str(folder), "--method", "Mine", "--wait", "--json"]
        done = CliRunner().invoke(program, arguments, env={"DEPTHGAUGE_TOKEN": token})
        assert done.exit_code == 0, done.output
        shown = json.loads(done.stdout)
        assert shown["state"] == "scored"
        assert {s["score"]: s["value"] for s in shown["scores"]}["mae@all"] == 0.5
        with pytest.raises(BadData, match="cannot be used"):
            running.run_site(site, WebSettings(url), host="127.0.0.1", port=port)
    finally:
        stop.set()
        thread.join()
    with pytest.raises(BadData, match="does not answer"):
        client.SiteClient(url).ask("GET", "benchmarks")


def test_a_process_that_dies_is_started_again_after_a_growing_pause(monkeypatch):
    moment = [0.0]
    started = []

    class Dead:
        def __init__(self, _command, env=None):
            started.append(moment[0])

        def poll(self):
            return 1

    monkeypatch.setattr(running.time, "monotonic", lambda: moment[0])
    monkeypatch.setattr(running.subprocess, "Popen", Dead)
    kept = running._SupervisedProcess(["x"])
    for step in range(600):
        moment[0] = step / 10
        kept.look()
    pauses = [round(b - a, 1) for a, b in pairwise(started)]
    assert pauses[:4] == [0.6, 1.1, 2.1, 4.1]
    assert max(pauses) < 31


def test_a_folder_gives_the_same_archive_every_time(folder, tmp_path):
    import zipfile

    for name in ("a.zip", "b.zip"):
        client.pack(folder, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    names = zipfile.ZipFile(tmp_path / "a.zip").namelist()
    assert names == ["boxes/disparity.npy", "fence/disparity.npy"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadData, match="no map in it"):
        client.pack(tmp_path / "empty", tmp_path / "c.zip")


def test_an_upload_survives_a_network_that_fails(tmp_path, monkeypatch):
    """Pieces get lost on the way there and on the way back; nothing is sent twice or left out."""
    content = bytes(range(256)) * 40
    (tmp_path / "a.zip").write_bytes(content)
    received = bytearray()
    faults = iter(["", "before", "", "after", "", "after", *[""] * 100])

    class Site:
        def ask(self, verb, path, body=None):
            if verb == "GET":
                return {"received": len(received)}
            fault = next(faults)
            if fault == "before":
                raise BadData("lost")
            assert path == f"uploads/1?offset={len(received)}"
            received.extend(body)
            if fault == "after":
                raise BadData("lost")
            return {"received": len(received)}

    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    seen = []
    upload = {"id": "1", "received": 0, "piece_bytes": 1000}
    client._send(Site(), tmp_path / "a.zip", upload, lambda _, done, size: seen.append(done))
    assert bytes(received) == content
    assert seen == sorted(seen)
    assert seen[-1] == len(content)


def test_a_token_goes_over_tls_and_to_one_site_only():
    with pytest.raises(Misuse, match="https only"):
        client.SiteClient("http://depth.example.org", "dg_x")
    client.SiteClient("http://depth.example.org")
    for bad in ("ftp://x", "depth.example.org", "file:///etc/passwd"):
        with pytest.raises(Misuse, match="no address"):
            client.SiteClient(bad)
    with pytest.raises(Misuse):
        WebSettings("depth.example.org")
    with pytest.raises(Misuse):
        WebSettings("https://depth.example.org/path")


def test_a_site_without_protection_does_not_start(site, tiny, monkeypatch):
    from depthgauge._confine import landlock

    monkeypatch.setattr(landlock, "works", lambda: False)
    with pytest.raises(BadData, match="no Landlock"):
        running.run_site(site, WebSettings("http://127.0.0.1:1"), host="127.0.0.1", port=1)


# The command line


@pytest.fixture
def serve(site):
    def call(*arguments, ok=True):
        place = ["--site", str(site.root), "--database", site.database_url]
        done = CliRunner().invoke(program, ["serve", *arguments, *place], catch_exceptions=True)
        assert (done.exit_code == 0) == ok, done.output
        return done.stdout if ok else str(done.exception)

    return call


def test_an_organiser_adds_a_benchmark_and_a_phase(serve, database, tiny_data):
    data = ["--data", str(tiny_data / "public"), "--hidden", str(tiny_data / "hidden")]
    assert "2 scores shown" in serve("add", str(tiny_data / "tiny.toml"), *data)
    when = ["--opens", "2030-01-01", "--closes", "2030-02-01"]
    serve("phase", "tiny", "first", *when)
    serve("phase", "tiny", "first", *when)  # again replaces it
    with database.begin() as session:
        (phase,) = session.query(Phase)
        assert phase.closes_at - phase.opens_at == 31 * 86_400
    assert "has no benchmark" in serve("phase", "other", "first", *when, ok=False)
    backwards = ["--opens", "2030-01-02", "--closes", "2030-01-01"]
    assert "closes after it opens" in serve("phase", "tiny", "x", *backwards, ok=False)


def test_accounts_from_the_terminal(serve, database, add_user):
    add_user()
    link = serve("user", "reset", "ann@example.org", "--public-url", "https://d.example")
    secret = re.fullmatch(r"https://d.example/reset/([\w-]+)\n", link)[1]
    with database.begin() as session:
        people.reset(session, secret, "a new password")
    assert "no account" in serve("user", "reset", "nobody@example.org", ok=False)
    link = serve("invite")
    secret = re.fullmatch(r"http://127.0.0.1:8400/join/([\w-]+)\n", link)[1]
    with database.begin() as session:
        people.join(session, secret, "bob@example.org", "Bob", PASSWORD)
    serve("user", "role", "bob@example.org", "organiser")
    assert "has no account" in serve("user", "role", "x@example.org", "admin", ok=False)
    listed = serve("user", "list")
    assert re.search(r"bob@example.org +Bob +organiser", listed)
    with database.begin() as session:
        assert session.query(AuditEntry).filter_by(action="role set to organiser").count() == 1
        assert session.query(User).count() == 2


def test_logs_are_for_the_terminal(serve, site, database):
    (site.workers / "logs" / "abc.txt").write_text("what happened\n")
    assert serve("log", "abc") == "what happened\n"
    for name in ("../benchmarks/tiny", "nothing"):
        assert "no log" in serve("log", name, ok=False)
    with database.begin() as session:
        assert session.query(Submission).count() == 0


def test_what_is_no_site_is_not_made_by_accident(tmp_path):
    done = CliRunner().invoke(program, ["serve", "user", "list", "--site", str(tmp_path / "x")])
    assert isinstance(done.exception, BadData)
    assert not (tmp_path / "x").exists()


def test_submit_needs_a_token(tmp_path):
    arguments = ["submit", "https://x.example", "tiny", str(tmp_path), "--method", "M"]
    done = CliRunner().invoke(program, arguments, env={"DEPTHGAUGE_TOKEN": ""})
    assert isinstance(done.exception, Misuse)
