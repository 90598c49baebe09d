"""Archives in an S3-compatible store."""

import os
import threading

import pytest
from tests.serve import tiny as made
from tests.serve.test_running import free_port

from depthgauge.errors import BadData, CannotWrite, Misuse
from depthgauge.serve import client, running
from depthgauge.serve.accounts import people
from depthgauge.serve.site import Site, make_folders
from depthgauge.serve.storage.remote import RemoteArchives
from depthgauge.serve.submissions import worker
from depthgauge.serve.web.settings import WebSettings

pytest.importorskip("fsspec", reason="extra [s3]")


@pytest.fixture
def site(request, tmp_path, empty_site):
    """A site whose archives are elsewhere; the fixtures of accounts and submissions use it."""
    url = getattr(request, "param", None) or f"memory://{tmp_path.name}"
    if url == "s3":
        url = request.getfixturevalue("bucket")
    found = Site(tmp_path / "site", "", url)
    make_folders(found)
    (found.web / "site.db").write_bytes(empty_site.read_bytes())
    return found


@pytest.fixture
def bucket(monkeypatch):
    """A server that behaves as S3, and a bucket."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
    ):
        monkeypatch.setenv(name, value)
    import boto3

    boto3.client("s3").create_bucket(Bucket="depth")
    yield "s3://depth/archives"
    server.stop()


def test_a_submission_is_kept_and_scored_elsewhere(site, database, tiny, add_user, send, read):
    sent = send(add_user())
    assert list(site.archives) == [sent.archive]
    assert list(site.blobs) == []
    assert list(site.uploads.iterdir()) == []
    worker.work_once(site, database)
    assert read(sent)[0].state == "scored"
    site.archives.remove(sent.archive)
    site.archives.remove(sent.archive)
    assert list(site.archives) == []


def test_a_store_that_lies_or_is_away(site, tmp_path, monkeypatch):
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    digest = made.sha256(b"abc")
    site.archives.stage(file, digest)
    system, _ = site.archives._store
    with system.open(site.archives._place(digest), "wb") as changed:
        changed.write(b"other")
    with pytest.raises(OSError, match="another hash"):
        site.archives.fetch(digest, tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        site.archives.fetch("0" * 64, tmp_path / "b")
    with pytest.raises(BadData, match="no SHA-256"):
        site.archives.fetch("../x", tmp_path / "b")

    def fail(*_args, **_more):
        raise ConnectionError("away")

    monkeypatch.setattr(type(system), "put_file", fail)
    with pytest.raises(CannotWrite, match="does not take"):
        site.archives.stage(file, digest)
    with pytest.raises(Misuse, match="no address"):
        RemoteArchives("bucket/folder")


@pytest.mark.long
@pytest.mark.parametrize("site", ["s3"], indirect=True)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_locked_web_process_uses_s3(site, database, tiny, add_user, tmp_path):
    """Real processes: the web process sends to the store from behind Landlock, a worker reads."""
    import numpy as np

    for name, values in made.estimates().items():
        (tmp_path / "mine" / name).mkdir(parents=True)
        np.save(tmp_path / "mine" / name / "disparity.npy", values)
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
        assert ready.wait(60)
        sent = client.submit(url, "tiny", tmp_path / "mine", token=token, method="Mine")
        asking = client.SiteClient(url, token)
        for _ in range(120):
            shown = asking.ask("GET", f"submissions/{sent['id']}")
            if shown["state"] not in ("queued", "running"):
                break
            stop.wait(0.5)
        assert shown["state"] == "scored"
    finally:
        stop.set()
        thread.join()
    assert list(site.archives) == [shown["archive"]]
    assert "AWS_SECRET_ACCESS_KEY" in os.environ
