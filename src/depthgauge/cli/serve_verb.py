"""`depthgauge serve`: runs a site, and administers it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from depthgauge.cli._output import count, print_table, progress_bar, write_json
from depthgauge.cli.serving import people, start
from depthgauge.cli.serving._options import (
    FOLDER,
    answer,
    json_option,
    open_the_site,
    overwrite_option,
    public_url_option,
    site_option,
)
from depthgauge.errors import BadData, Misuse

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"])


class _Serve(click.Group):
    """`serve DIR` is `serve start DIR`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["start", *args]
        return super().resolve_command(ctx, args)


@click.group("serve", cls=_Serve, context_settings={"ignore_unknown_options": True})
def command() -> None:
    """Runs a site with accounts, submissions, hidden truth and leaderboards.

    \b
      depthgauge serve site
      depthgauge serve add booster-balanced --site site --data Booster --hidden Booster-hidden
    """


command.add_command(start.COMMAND)
for _command in (people.photographs_command, people.quiz_command, people.study_command):
    command.add_command(_command)


@command.command("add")
@click.argument("benchmark")
@site_option
@click.option("--data", type=FOLDER, required=True, help="What participants have.")
@click.option("--hidden", type=FOLDER, help="The same with the truth, for the workers only.")
@click.option(
    "--quota",
    type=click.IntRange(1),
    help="[default: 5; with hidden truth, one per 60 samples, 1 to 5]",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 6),
    help="Release this many digits of scores of hidden truth, whatever attackers learn from them.",
)
@click.option("--most-mb", type=click.IntRange(1), default=4096, show_default=True)
@click.option("--rescore", is_flag=True, help="Take another protocol; score all entries again.")
@click.option("--terms", default="", help="A sentence that authors must accept to submit.")
@click.option("--download", default="", help="The address where participants find the data.")
@json_option
def _add(
    benchmark: str,
    folder: Path,
    database: str,
    data: Path,
    hidden: Path | None,
    quota: int | None,
    digits: int | None,
    most_mb: int,
    rescore: bool,
    terms: str,
    download: str,
    as_json: bool,
) -> None:
    """Opens a benchmark for submissions: QUOTA a month for each team, of at most MOST_MB.

    \b
      depthgauge serve add booster-balanced --data Booster --hidden Booster-hidden

    With --hidden, the data must have no truth (see --with-truth of `capture export`), and only what
    [hidden] in the benchmark lists is released: in steps so large that a year of scores says little
    about a map, or with --digits.
    """
    site = open_the_site(folder, database)
    from depthgauge.serve.submissions import revisions
    from depthgauge.serve.submissions.registry import add_benchmark

    with site.connected() as tables:
        found = add_benchmark(
            site,
            tables,
            benchmark,
            data,
            hidden=hidden,
            monthly_quota=quota,
            digits=digits,
            most_bytes=most_mb << 20,
            terms=terms,
            rescore=rescore,
            download=download,
        )
        if rescore:
            revisions.begin(site, tables, found.protocol.id, "protocol")
    protocol = found.protocol
    shown = protocol.score_ids if hidden is None else protocol.released_scores
    step = None if found.rounding is None else found.rounding.step
    text = f"{protocol.id}: takes submissions; {count(len(shown), 'score')} shown"
    text += "." if step is None else f", in steps of at least {100 * step:.2g} %."
    body = {"benchmark": protocol.id, "scores": list(shown), "hidden": hidden is not None}
    answer(as_json, text, **body, step=step)


@command.command("rescore")
@click.argument("benchmark")
@site_option
@json_option
def _rescore(benchmark: str, folder: Path, database: str, as_json: bool) -> None:
    """Has all entries of BENCHMARK scored again, with the protocol and the truth as they are now.

    Workers do so by themselves when they see that either has changed. The table stays as it is
    until all entries have new scores; the former one is kept, and the authors are notified.
    """
    site = open_the_site(folder, database)
    from depthgauge.serve.submissions import revisions

    with site.connected() as tables:
        entries = revisions.begin(site, tables, benchmark, "asked")
    text = f"{benchmark}: {count(entries, 'submission')} will be scored again by the workers."
    answer(as_json, text, benchmark=benchmark, entries=entries)


@command.command("phase")
@click.argument("benchmark")
@click.argument("name")
@site_option
@click.option("--opens", type=_MOMENT, required=True, help="Day, or day and time, UTC.")
@click.option("--closes", type=_MOMENT, help="The same; later submissions are not taken.")
@json_option
def _phase(
    benchmark: str,
    name: str,
    folder: Path,
    database: str,
    opens: datetime.datetime,
    closes: datetime.datetime | None,
    as_json: bool,
) -> None:
    """Limits when a benchmark takes submissions; without phases it always does."""
    site = open_the_site(folder, database)
    from depthgauge.serve.storage.database import audit
    from depthgauge.serve.storage.models import Benchmark, Phase

    first, last = _moment(opens), None if closes is None else _moment(closes)
    if last is not None and last <= first:
        raise Misuse("a phase closes after it opens")
    with site.connected() as tables, tables.begin() as session:
        if session.get(Benchmark, benchmark) is None:
            raise BadData(f"{folder}: has no benchmark {benchmark}; add it with `serve add`.")
        session.query(Phase).filter_by(benchmark_id=benchmark, name=name).delete()
        session.add(Phase(benchmark_id=benchmark, name=name, opens_at=first, closes_at=last))
        audit(session, "phase set", f"{benchmark} {name}")
    text = f"{benchmark}: phase {name} is set."
    answer(as_json, text, benchmark=benchmark, phase=name, opens=first, closes=last)


def _moment(day: datetime.datetime) -> int:
    return int(day.replace(tzinfo=datetime.UTC).timestamp())


@command.command("invite")
@site_option
@public_url_option
@json_option
def _invite(folder: Path, database: str, public_url: str, as_json: bool) -> None:
    """Prints a link that makes an account, once, within two weeks."""

    def make(session: Any) -> str:
        from depthgauge.serve.accounts.links import make_link
        from depthgauge.serve.storage.database import audit

        audit(session, "invitation made")
        return f"join/{make_link(session, 'invitation')}"

    _print_link(folder, database, public_url, as_json, make)


@command.command("report")
@click.argument("submission")
@click.argument("report", type=click.Path(path_type=Path, exists=True))
@site_option
@json_option
def _report(submission: str, report: Path, folder: Path, database: str, as_json: bool) -> None:
    """Shows REPORT, which `depthgauge report` wrote, with an entry whose truth is public.

    \b
      depthgauge report runs/sgbm
      depthgauge serve report SUBMISSION runs/sgbm --site site
    """
    site = open_the_site(folder, database)
    from depthgauge.serve.reports import attach_report

    with site.connected() as tables:
        digest = attach_report(site, tables, submission, report)
    text = f"{report}: shown at /submissions/{submission}/report."
    answer(as_json, text, submission=submission, sha256=digest)


@command.command("log")
@click.argument("submission")
@site_option
@json_option
def _log(submission: str, folder: Path, database: str, as_json: bool) -> None:
    """Prints what happened while a submission was scored; authors never see it."""
    site = open_the_site(folder, database)
    path = site.workers / "logs" / f"{submission}.txt"
    if not submission.isalnum() or not path.is_file():
        raise BadData(f"{folder}: there is no log of submission {submission}.")
    lines = path.read_text().splitlines()
    answer(as_json, "\n".join(lines), submission=submission, lines=lines)


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@site_option
@overwrite_option
@json_option
def _backup(file: Path, folder: Path, database: str, overwrite: bool, as_json: bool) -> None:
    """Writes the database and archives to one FILE while the site runs; the truth is not in it."""
    site = open_the_site(folder, database)
    from depthgauge.serve.backup import back_up

    with progress_bar("backing up") as step:
        archives = back_up(site, file, overwrite=overwrite, progress=step)
    text = f"{file}: written, with {count(archives, 'archive')}."
    answer(as_json, text, file=str(file), archives=archives)


@command.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("folder", type=FOLDER)
@overwrite_option
@json_option
def _restore(file: Path, folder: Path, overwrite: bool, as_json: bool) -> None:
    """Makes a site in a new FOLDER from a backup; add its benchmarks again."""
    from depthgauge.serve.backup import restore

    with progress_bar("restoring") as step:
        archives = restore(file, folder, overwrite=overwrite, progress=step)
    text = f"{folder}: restored, with {count(archives, 'archive')}; add its benchmarks again."
    answer(as_json, text, folder=str(folder), archives=archives)


@command.group("user")
def _user() -> None:
    """Accounts of a site."""


@_user.command("list")
@site_option
@json_option
def _list(folder: Path, database: str, as_json: bool) -> None:
    """Lists all accounts."""
    site = open_the_site(folder, database)
    from depthgauge.serve.storage.models import User

    with site.connected() as tables, tables.begin() as session:
        rows = [[u.email, u.name, u.role, u.team.name] for u in session.query(User)]
    heads = ("e-mail", "name", "role", "team")
    if as_json:
        write_json("-", {"users": [dict(zip(heads, row, strict=True)) for row in rows]})
    else:
        print_table([(name, "left") for name in heads], rows)


@_user.command("role")
@click.argument("email")
@click.argument("role", type=click.Choice(["author", "organiser", "admin"]))
@site_option
@json_option
def _role(email: str, role: str, folder: Path, database: str, as_json: bool) -> None:
    """Makes somebody an organiser, an admin, or an author again."""
    site = open_the_site(folder, database)
    from depthgauge.serve.storage.database import audit
    from depthgauge.serve.storage.models import User

    with site.connected() as tables, tables.begin() as session:
        user = session.query(User).filter_by(email=email.strip().lower()).one_or_none()
        if user is None:
            raise BadData(f"{folder}: has no account of {email}; see `serve user list`.")
        user.role = role
        audit(session, f"role set to {role}", user.email)
    answer(as_json, f"{email}: is {role} now.", email=email, role=role)


@_user.command("reset")
@click.argument("email")
@site_option
@public_url_option
@json_option
def _reset(email: str, folder: Path, database: str, public_url: str, as_json: bool) -> None:
    """Prints a link that sets a new password, once, within an hour."""

    def make(session: Any) -> str:
        from depthgauge.serve.accounts.links import reset_link

        return f"reset/{reset_link(session, email)}"

    _print_link(folder, database, public_url, as_json, make)


def _print_link(
    folder: Path, database: str, public_url: str, as_json: bool, make: Callable[[Any], str]
) -> None:
    site = open_the_site(folder, database)
    from depthgauge.serve.web.settings import WebSettings

    settings = WebSettings(public_url)
    with site.connected() as tables, tables.begin() as session:
        path = make(session)
    answer(as_json, settings.link(path), link=settings.link(path))
