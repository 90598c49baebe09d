"""`depthgauge submit`: sends a folder of estimates to a site."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from depthgauge.cli._output import one_line, progress_bar, say, working, write_json
from depthgauge.errors import BadData, Misuse

_DETAILS = {
    "title": "The title of the method.",
    "description": "What it does, in a few sentences.",
    "tier": "What it was given, where the benchmark has tiers.",
    "setup": "What cameras it uses.",
    "language": "What it is written in.",
    "environment": "What it ran on.",
    "runtime": "Seconds for one sample.",
    "link": "The address of the project.",
    "code": "The address of its source code.",
    "publication": "The title of the publication.",
    "authors": "Who wrote it.",
    "venue": "Conference or journal.",
    "paper": "The address of the paper.",
    "bibtex": "How to cite it; @FILE reads a file.",
}
_LOOK_S = 1.0


def _details(command: Any) -> Any:
    for name, text in reversed(_DETAILS.items()):
        command = click.option(f"--{name}", default="", help=text)(command)
    return command


@click.command("submit")
@click.argument("url")
@click.argument("benchmark")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--method", required=True, help="The name of the method.")
@click.option("--version", default="", help="The version of the method.")
@_details
@click.option("--data", type=click.Path(path_type=Path), help="Check with this data first.")
@click.option("--accept-terms", is_flag=True, help="Accept the terms of the benchmark.")
@click.option("--dry-run", is_flag=True, help="Only check it: not scored, not counted.")
@click.option("--wait", is_flag=True, help="Wait for the scores.")
@click.option(
    "--token", envvar="DEPTHGAUGE_TOKEN", help="A token of your account; or $DEPTHGAUGE_TOKEN."
)
@click.option("--json", "as_json", is_flag=True, help="The submission as JSON.")
def command(
    url: str,
    benchmark: str,
    folder: Path,
    method: str,
    version: str,
    data: Path | None,
    accept_terms: bool,
    dry_run: bool,
    wait: bool,
    token: str | None,
    as_json: bool,
    **details: str,
) -> None:
    """Sends a folder of estimates to a site, where it is checked and scored.

    \b
      export DEPTHGAUGE_TOKEN=dg_...
      depthgauge submit https://depth.example.org booster-balanced results --method MyNet

    An interrupted upload continues where it stopped. Exit code 1 if the site refuses it.
    """
    from depthgauge.serve.client import SiteClient, submit

    if not token:
        raise Misuse(f"a token is needed: make one at {url}/account and set DEPTHGAUGE_TOKEN")
    if data is not None:
        _check(benchmark, folder, data)
    told = {name: _text(name, text) for name, text in details.items() if text}
    with progress_bar("sending") as step:
        sent = submit(
            url,
            benchmark,
            folder,
            token=token,
            method=method,
            version=version,
            details=told,
            accept_terms=accept_terms,
            dry_run=dry_run,
            progress=step,
        )
    if wait:
        sent = _wait(SiteClient(url, token), sent)
    if as_json:
        write_json("-", sent)
    else:
        _print(url, sent)
    if sent["state"] == "failed":
        click.get_current_context().exit(1)


def _text(name: str, given: str) -> str:
    """What was given, or what is in the file that `@FILE` names."""
    if not given.startswith("@") or name != "bibtex" or not Path(given[1:]).is_file():
        return given
    return Path(given[1:]).read_text(encoding="utf-8")


def _check(benchmark: str, folder: Path, data: Path) -> None:
    from depthgauge.engine.scoring.check import check_estimates

    with progress_bar("checking") as step:
        found = check_estimates(benchmark, data, folder, progress=step)
    for finding in found:
        word = "error" if finding.serious else "note"
        text = f"{word}: {finding.sample}: {finding.problem} {finding.advice}"
        click.echo(one_line(text), err=True)
    if any(finding.serious for finding in found):
        raise BadData(f"{folder}: has the problems above; nothing was sent.")


def _wait(client: Any, sent: dict[str, Any]) -> dict[str, Any]:
    with working("waiting for the scores"):
        while sent["state"] in ("queued", "running"):
            time.sleep(_LOOK_S)
            sent = client.ask("GET", f"submissions/{sent['id']}")
    return sent


def _print(url: str, sent: dict[str, Any]) -> None:
    for problem in sent["problems"]:
        where = f"{problem['sample']}: " if problem["sample"] else ""
        click.echo(one_line(f"error: {where}{problem['problem']} {problem['do']}"))
    for score in sent["scores"]:
        if not score["sample"]:
            click.echo(f"{score['score']}  {score['value']:g}")
    if sent["message"]:
        say(sent["message"])
    click.echo(f"{url.rstrip('/')}/submissions/{sent['id']}: {sent['state']}.")
