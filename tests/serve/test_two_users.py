"""Web and workers as two users, with the commands of the units, as the operators' page says."""

import configparser
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD

from depthgauge.cli import depthgauge as program
from depthgauge.serve.accounts import people
from depthgauge.serve.site import Site

DEPLOY = Path(__file__).parents[2] / "deploy"
UIDS = {"depth-web": 61801, "depth-workers": 61802}
GROUP = 61800
PROGRAM = [sys.executable, "-P", "-m", "depthgauge"]


def as_user(name, command, umask=0o022, **more):
    """Starts a command as one of the two users, who need no account for that."""
    identity = [f"--reuid={UIDS[name]}", f"--regid={GROUP}", "--clear-groups", "--no-new-privs"]
    drop = ["--inh-caps=-all", "--bounding-set=-all"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    words = ["setpriv", *identity, *drop, *map(str, command)]
    return subprocess.Popen(words, umask=umask, env=environment, cwd="/", text=True, **more)


def said(name, command, **more):
    """The output of a command that one of the users runs."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    started = as_user(name, command, **pipes, **more)
    text, _ = started.communicate(timeout=300)
    return started.returncode, text


@pytest.fixture
def folder():
    """Folders with the owners and modes of the operators' page, where both users can go."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to start processes as two other users")
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv (util-linux)")
    # By way of a shell: setpriv itself can still go where root can.
    trial = ["sh", "-c", 'exec "$0" -P -c "import depthgauge"', sys.executable]
    code, text = said("depth-web", trial)
    if code != 0:
        pytest.skip(f"other users cannot run this Python: {text.strip()[-200:]}")
    root = Path(tempfile.mkdtemp(prefix="depthgauge-users-"))
    root.chmod(0o755)
    made.write_data(root / "data")
    os.chmod(root / "data", 0o755)
    commands = re.findall(r"(?m)^install -d .*$", (DEPLOY.parent / "docs/operators.md").read_text())
    assert len(commands) == 4
    for command in commands:
        for user, number in UIDS.items():
            command = command.replace(f"-o {user} ", f"-o {number} ")
        words = command.replace("-g depth", f"-g {GROUP}").replace("/srv/", f"{root}/srv/")
        subprocess.run(shlex.split(words), check=True)
    (root / "srv").chmod(0o755)
    hidden = root / "srv/truth/tiny"
    shutil.move(root / "data/hidden", hidden)
    for path in [hidden, *hidden.rglob("*")]:
        os.chown(path, UIDS["depth-workers"], GROUP)
    yield root
    shutil.rmtree(root)


@contextmanager
def service(unit, root, port, log):
    """What systemd would start, but for its own protections."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str
    parser.read(DEPLOY / f"{unit}.service")
    found = parser["Service"]
    start = found["ExecStart"].replace("/srv/", f"{root}/srv/")
    start = start.replace("https://depth.example.org", f"http://127.0.0.1:{port}")
    words = [*PROGRAM, *shlex.split(start)[1:]]
    if "--only web" in start:
        words += ["--port", port]
    with open(log, "w") as output:
        pipes = {"stdout": output, "stderr": subprocess.STDOUT}
        started = as_user(found["User"], words, int(found["UMask"], 8), **pipes)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(30)


def wait_for(log, text, process):
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        if text in log.read_text():
            return
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(f"no '{text}' in: {log.read_text()}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


READ = """
import os, sys
opened = []
for place in sys.argv[1:]:
    for folder, _, names in os.walk(place, onerror=lambda error: print("closed", error.filename)):
        opened += [os.path.join(folder, name) for name in names]
for path in opened:
    try:
        open(path, "rb").read()
        print("read", path)
    except PermissionError:
        print("closed", path)
"""


@pytest.mark.long
def test_two_users_score_a_submission_and_the_web_user_reads_no_truth(folder):
    port = free_port()
    url, site = f"http://127.0.0.1:{port}", folder / "srv/depth"
    web_log, workers_log = folder / "web.txt", folder / "workers.txt"
    with (
        service("depthgauge-web", folder, port, web_log) as web,
        service("depthgauge-workers", folder, port, workers_log) as workers,
    ):
        wait_for(web_log, "This link makes one", web)
        wait_for(workers_log, "has workers", workers)
        data, hidden = folder / "data", folder / "srv/truth/tiny"
        add = ["serve", "add", data / "tiny.toml", "--site", site, "--data", data / "public"]
        add = [*PROGRAM, *add, "--hidden", hidden, "--quota", "5"]
        code, text = said("depth-workers", add)
        assert code == 0, text
        reset = [*PROGRAM, "serve", "invite", "--site", site, "--public-url", url]
        code, text = said("depth-workers", reset)
        assert code == 0, text
        secret = text.strip().rpartition("/")[2]
        with Site(site).connected() as database, database.begin() as session:
            people.join(session, secret, "ann@example.org", "Ann", PASSWORD)
            user = session.query(people.User).filter_by(email="ann@example.org").one()
            token = people.make_token(session, user, "test", ("submit", "read"), 1)
        results = folder / "mine"
        for name, values in made.estimates().items():
            (results / name).mkdir(parents=True)
            (results / name / "disparity.npy").write_bytes(made.npy(values))
        submit = ["submit", url, "tiny", str(results), "--method", "Mine", "--wait", "--json"]
        done = CliRunner().invoke(program, submit, env={"DEPTHGAUGE_TOKEN": token})
        assert done.exit_code == 0, (done.output, workers_log.read_text())
        assert json.loads(done.stdout)["state"] == "scored"
        code, text = said("depth-web", [sys.executable, "-c", READ, folder / "srv/truth", site])
        read = [line for line in text.splitlines() if line.startswith("read")]
        assert read, text
        assert all("/srv/depth/web/" in line for line in read), text
        closed = {line.removeprefix("closed ") for line in text.splitlines()} - set(read)
        assert {f"{folder}/srv/truth", f"{site}/workers"} <= closed
        code, text = said("depth-web", ["ls", hidden])
        assert code != 0
        assert "Permission denied" in text
        assert web.poll() is None
        assert workers.poll() is None
    both = {path.stat().st_uid for path in (site / "web").rglob("*")}
    assert both <= set(UIDS.values()), "both users write there, and nobody else"
