"""The files for operators say what the program understands."""

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from depthgauge.cli import depthgauge as program

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def start_command():
    serve = program.get_command(click.Context(program), "serve")
    return serve.commands["start"]


def parsed(words):
    """The options of `serve DIR ...` as the program understands them."""
    command = start_command()
    return command.make_context("start", list(words)).params


def unit(path):
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.optionxform = str
    found.read(path)
    return found["Service"]


def test_the_units_start_the_two_halves_as_two_users():
    parts = {}
    for path in UNITS:
        service = unit(path)
        _, verb, *words = shlex.split(service["ExecStart"])
        assert verb == "serve"
        parts[parsed(words)["only"]] = service
    assert set(parts) == {"web", "workers"}
    assert parts["web"]["User"] != parts["workers"]["User"]
    assert parts["web"]["Group"] == parts["workers"]["Group"]
    assert parts["web"]["ReadWritePaths"] == "/srv/depth/web"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_units(tmp_path):
    for path in UNITS:
        text = re.sub("(?m)^ExecStart=.*", "ExecStart=/bin/true", path.read_text())
        copy = tmp_path / path.name
        copy.write_text(text)
        subprocess.run(["systemd-analyze", "verify", str(copy)], check=True)


def test_the_container_installs_what_exists_and_starts_a_site():
    import tomllib

    text = (DEPLOY / "Containerfile").read_text()
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    extras = re.search(r"'\.\[([\w,]+)\]'", text)[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    for copied in re.findall(r"(?m)^COPY (.*) \S+$", text):
        assert all((DEPLOY.parent / name).exists() for name in copied.split())
    entry = eval(re.search(r"(?m)^ENTRYPOINT (.*)$", text)[1])
    command = eval(re.search(r"(?m)^CMD (.*)$", text)[1])
    assert entry[:2] == ["depthgauge", "serve"]
    assert parsed([*entry[2:], *command])["host"] == "0.0.0.0"
    assert "USER depth" in text  # not as root


def test_the_web_user_opens_a_site_whose_workers_are_closed(site, monkeypatch):
    """As a user who may not look into the folder of the workers."""
    from depthgauge.serve import site as module

    made = Path.mkdir

    def mkdir(self, *args, **more):
        if site.workers in self.parents:
            raise PermissionError(13, "Permission denied")
        return made(self, *args, **more)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    module.make_folders(site)
