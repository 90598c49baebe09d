"""The web process cannot open the truth; without protection a site with hidden truth is closed."""

import subprocess
import sys

import pytest

from depthgauge._confine import landlock
from depthgauge.errors import BadData
from depthgauge.serve import lockout

CODE = """
import os, sys
from pathlib import Path
from depthgauge.serve.lockout import lock_out
from depthgauge.serve.site import Site

site = Site(Path(sys.argv[1]))
print(lock_out(site))
for path in sys.argv[2:]:
    try:
        with open(path, "rb") as file:
            file.read()
        print("read", path)
    except OSError as error:
        print(type(error).__name__, path)
child = os.popen(f"cat {sys.argv[2]} >/dev/null 2>&1; echo $?").read().strip()
print("child", child)
try:
    os.link(sys.argv[2], site.web / "stolen"); print("linked")
except OSError as error:
    print(type(error).__name__)
(site.web / "tmp" / "new").write_text("x")
import sqlalchemy, jinja2, fastapi  # the installation stays readable
with site.open().begin() as session:
    print("database", session.execute(sqlalchemy.text("SELECT 1")).scalar())
"""


@pytest.mark.skipif(not landlock.works(), reason="this kernel has no Landlock")
def test_the_web_process_cannot_open_a_hidden_file(site, tiny, tmp_path):
    truth = next(tiny.hidden.rglob("disparity.npy"))
    (tmp_path / "link").symlink_to(truth)
    (site.web / "link").symlink_to(truth)
    later = tmp_path / "added-later.npy"
    later.write_text("truth")
    registered = site.workers / "benchmarks" / "tiny.json"
    around = f"/proc/self/root{truth}"
    hidden = [truth, tmp_path / "link", site.web / "link", later, registered, around]
    run = subprocess.run(
        [sys.executable, "-c", CODE, str(site.root), *map(str, hidden)],
        capture_output=True,
        text=True,
    )
    said = run.stdout.splitlines()
    assert said[0] == "landlock", run.stderr
    assert [line.split()[0] for line in said[1 : 1 + len(hidden)]] == ["PermissionError"] * 6
    assert said[-3] == "child 1"
    assert "linked" not in said
    assert said[-1] == "database 1", run.stdout + run.stderr
    assert truth.is_file()


def test_without_protection_a_site_with_hidden_truth_does_not_start(site, tiny, monkeypatch):
    monkeypatch.setattr(landlock, "works", lambda: False)
    with pytest.raises(BadData, match="no Landlock"):
        lockout.lock_out(site)


def test_without_protection_a_site_without_hidden_truth_starts(site, monkeypatch):
    monkeypatch.setattr(landlock, "works", lambda: False)
    assert lockout.lock_out(site) == "nothing"


def test_another_user_is_protection(site, tiny, monkeypatch):
    def refuse(_site):
        raise PermissionError

    monkeypatch.setattr(landlock, "works", lambda: False)
    monkeypatch.setattr(lockout, "hidden_folders", refuse)
    assert lockout.lock_out(site) == "user"


def test_truth_is_not_where_the_web_process_reads(tmp_path):
    from pathlib import Path

    lockout.require_outside([tmp_path])
    for inside in (Path(sys.prefix) / "truth", Path("/usr/share/truth")):
        with pytest.raises(BadData, match="cannot be inside"):
            lockout.require_outside([inside])


def test_a_lock_that_does_not_hold_is_noticed(tmp_path):
    with pytest.raises(BadData, match="can still be read"):
        lockout._require_closed([tmp_path])
    lockout._require_closed([tmp_path / "not there"])
