"""`depthgauge serve`: runs a site, and administers it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import count, print_table, progress_bar, say, write_json
from depthgauge.errors import BadData, MissingExtra, Misuse

if TYPE_CHECKING:
    from depthgauge.serve.site import Site

_FOLDER = click.Path(path_type=Path, file_okay=False)
_PORT = 8400


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


def _site_option(function: Any) -> Any:
    function = click.option(
        "--database",
        default="",
        envvar="DEPTHGAUGE_DATABASE",
        help="The address of a PostgreSQL database; SQLite in the folder by default.",
    )(function)
    return click.option(
        "--site",
        "folder",
        type=_FOLDER,
        default=Path("site"),
        show_default=True,
        help="Its folder.",
    )(function)


_overwrite_option = click.option("--overwrite", is_flag=True, help="Replace what is there.")
_json_option = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")


def _answer(as_json: bool, text: str, **body: Any) -> None:
    """What was done, for people or for programs."""
    if as_json:
        write_json("-", body)
    else:
        click.echo(text)


def _public_url_option(function: Any) -> Any:
    return click.option(
        "--public-url",
        default=f"http://127.0.0.1:{_PORT}",
        show_default=True,
        help="How browsers reach the site.",
    )(function)


def _open(folder: Path, database: str, *, must_exist: bool = True) -> Site:
    try:
        import alembic  # noqa: F401
        import argon2  # noqa: F401
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"a site needs {error.name}; say: pip install 'depthgauge[serve]'"
        ) from None
    from depthgauge.serve.site import open_site

    if must_exist and not (folder / "web").is_dir():
        raise BadData(f"{folder}: is no site; start one with `depthgauge serve {folder}`.")
    return open_site(folder, database)


@command.command("start")
@click.argument("folder", type=_FOLDER, required=False)
@click.option("--demo", is_flag=True, help="A site with benchmarks and baselines to look at.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=_PORT, show_default=True, help="The port to listen on.")
@click.option("--public-url", help="How browsers reach the site.  [default: http://HOST:PORT]")
@click.option(
    "--trusted-proxy", multiple=True, help="Address of a proxy whose X-Forwarded-For counts."
)
@click.option("--workers", type=click.IntRange(0, 64), default=1, show_default=True)
@click.option(
    "--database",
    default="",
    envvar="DEPTHGAUGE_DATABASE",
    help="The address of a PostgreSQL database; SQLite in the folder by default.",
)
def _start(
    folder: Path | None,
    demo: bool,
    host: str,
    port: int,
    public_url: str | None,
    trusted_proxy: tuple[str, ...],
    workers: int,
    database: str,
) -> None:
    """Runs a site until Ctrl-C; makes its folder if there is none.

    The first admin gets a link in the terminal, which works once, within an hour. With --demo, the
    site listens on this machine only, and passwords are random and printed.

    \b
      depthgauge serve --demo
      depthgauge serve site --public-url https://depth.example.org --trusted-proxy 127.0.0.1
    """
    if demo and host not in ("127.0.0.1", "localhost"):
        raise Misuse("a demo is for this machine only; leave out --host")
    if folder is None:
        if not demo:
            raise click.UsageError("name the folder of the site, or say --demo.")
        folder = Path("demo-site")
    site = _open(folder, database, must_exist=False)
    from depthgauge.serve.accounts.links import first_admin_link
    from depthgauge.serve.running import run_site
    from depthgauge.serve.web.settings import WebSettings

    settings = WebSettings(public_url or f"http://{host}:{port}", trusted_proxy)
    if demo:
        _fill(site)
    with site.connected() as tables, tables.begin() as session:
        secret = first_admin_link(session)

    def tell() -> None:
        say(f"{settings.origin}: the site of {folder} answers. Ctrl-C ends it.")
        if secret is not None:
            say("There is no admin yet. This link makes one, once, within an hour:")
            click.echo(settings.link(f"join/{secret}"))

    run_site(site, settings, host=host, port=port, workers=workers, on_ready=tell)


def _fill(site: Site) -> None:
    from depthgauge.serve.demo import make_demo

    with progress_bar("making a demo") as step, site.connected() as tables:
        accounts = make_demo(site, tables, site.root / "demo", progress=step)
    if accounts:
        rows = [[one.role, one.email, one.password] for one in accounts]
        print_table([(name, "left") for name in ("role", "e-mail", "password")], rows)


@command.command("add")
@click.argument("benchmark")
@_site_option
@click.option("--data", type=_FOLDER, required=True, help="What participants have.")
@click.option("--hidden", type=_FOLDER, help="The same with the truth, for the workers only.")
@click.option("--quota", type=click.IntRange(1), default=5, show_default=True)
@click.option("--most-mb", type=click.IntRange(1), default=4096, show_default=True)
@_json_option
def _add(
    benchmark: str,
    folder: Path,
    database: str,
    data: Path,
    hidden: Path | None,
    quota: int,
    most_mb: int,
    as_json: bool,
) -> None:
    """Opens a benchmark for submissions: QUOTA a month for each team, of at most MOST_MB.

    \b
      depthgauge serve add booster-balanced --data Booster --hidden Booster-hidden

    With --hidden, the data must have no truth (see --with-truth of `capture export`), and what is
    released is what [hidden] in the benchmark says.
    """
    site = _open(folder, database)
    from depthgauge.serve.submissions.registry import add_benchmark

    with site.connected() as tables:
        found = add_benchmark(
            site,
            tables,
            benchmark,
            data,
            hidden=hidden,
            monthly_quota=quota,
            most_bytes=most_mb << 20,
        )
    protocol = found.protocol
    shown = protocol.score_ids if hidden is None else protocol.released_scores
    text = f"{protocol.id}: takes submissions; {count(len(shown), 'score')} shown."
    _answer(as_json, text, benchmark=protocol.id, scores=list(shown), hidden=hidden is not None)


@command.command("phase")
@click.argument("benchmark")
@click.argument("name")
@_site_option
@click.option("--opens", type=click.DateTime(["%Y-%m-%d"]), required=True, help="Day, UTC.")
@click.option("--closes", type=click.DateTime(["%Y-%m-%d"]), help="The day after the last, UTC.")
@_json_option
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
    site = _open(folder, database)
    from depthgauge.serve.storage.models import Benchmark, Phase

    first, last = _moment(opens), None if closes is None else _moment(closes)
    if last is not None and last <= first:
        raise Misuse("a phase closes after it opens")
    with site.connected() as tables, tables.begin() as session:
        if session.get(Benchmark, benchmark) is None:
            raise BadData(f"{folder}: has no benchmark {benchmark}; add it with `serve add`.")
        session.query(Phase).filter_by(benchmark_id=benchmark, name=name).delete()
        session.add(Phase(benchmark_id=benchmark, name=name, opens_at=first, closes_at=last))
    text = f"{benchmark}: phase {name} is set."
    _answer(as_json, text, benchmark=benchmark, phase=name, opens=first, closes=last)


def _moment(day: datetime.datetime) -> int:
    return int(day.replace(tzinfo=datetime.UTC).timestamp())


@command.command("invite")
@_site_option
@_public_url_option
@_json_option
def _invite(folder: Path, database: str, public_url: str, as_json: bool) -> None:
    """Prints a link with which somebody makes an account, once, within two weeks."""

    def make(session: Any) -> str:
        from depthgauge.serve.accounts.links import make_link
        from depthgauge.serve.storage.database import audit

        audit(session, "invitation made")
        return f"join/{make_link(session, 'invitation')}"

    _print_link(folder, database, public_url, as_json, make)


@command.command("log")
@click.argument("submission")
@_site_option
@_json_option
def _log(submission: str, folder: Path, database: str, as_json: bool) -> None:
    """Prints what happened while a submission was scored; authors never see it."""
    site = _open(folder, database)
    path = site.workers / "logs" / f"{submission}.txt"
    if not submission.isalnum() or not path.is_file():
        raise BadData(f"{folder}: there is no log of submission {submission}.")
    lines = path.read_text().splitlines()
    _answer(as_json, "\n".join(lines), submission=submission, lines=lines)


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_site_option
@_overwrite_option
@_json_option
def _backup(file: Path, folder: Path, database: str, overwrite: bool, as_json: bool) -> None:
    """Writes database and archives to one FILE, while the site runs; the truth is not in it."""
    site = _open(folder, database)
    from depthgauge.serve.backup import back_up

    with progress_bar("backing up") as step:
        archives = back_up(site, file, overwrite=overwrite, progress=step)
    text = f"{file}: written, with {count(archives, 'archive')}."
    _answer(as_json, text, file=str(file), archives=archives)


@command.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("folder", type=_FOLDER)
@_overwrite_option
@_json_option
def _restore(file: Path, folder: Path, overwrite: bool, as_json: bool) -> None:
    """Makes a site in a new FOLDER from a backup; add its benchmarks again."""
    from depthgauge.serve.backup import restore

    with progress_bar("restoring") as step:
        archives = restore(file, folder, overwrite=overwrite, progress=step)
    text = f"{folder}: restored, with {count(archives, 'archive')}; add its benchmarks again."
    _answer(as_json, text, folder=str(folder), archives=archives)


@command.group("user")
def _user() -> None:
    """Accounts of a site."""


@_user.command("list")
@_site_option
@_json_option
def _list(folder: Path, database: str, as_json: bool) -> None:
    """Lists all accounts."""
    site = _open(folder, database)
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
@_site_option
@_json_option
def _role(email: str, role: str, folder: Path, database: str, as_json: bool) -> None:
    """Makes somebody an organiser, an admin, or an author again."""
    site = _open(folder, database)
    from depthgauge.serve.storage.database import audit
    from depthgauge.serve.storage.models import User

    with site.connected() as tables, tables.begin() as session:
        user = session.query(User).filter_by(email=email.strip().lower()).one_or_none()
        if user is None:
            raise BadData(f"{folder}: has no account of {email}; see `serve user list`.")
        user.role = role
        audit(session, f"role set to {role}", user.email)
    _answer(as_json, f"{email}: is {role} now.", email=email, role=role)


@_user.command("reset")
@click.argument("email")
@_site_option
@_public_url_option
@_json_option
def _reset(email: str, folder: Path, database: str, public_url: str, as_json: bool) -> None:
    """Prints a link with which somebody sets a new password, once, within an hour."""

    def make(session: Any) -> str:
        from depthgauge.serve.accounts.links import reset_link

        return f"reset/{reset_link(session, email)}"

    _print_link(folder, database, public_url, as_json, make)


def _print_link(
    folder: Path, database: str, public_url: str, as_json: bool, make: Callable[[Any], str]
) -> None:
    site = _open(folder, database)
    from depthgauge.serve.web.settings import WebSettings

    settings = WebSettings(public_url)
    with site.connected() as tables, tables.begin() as session:
        path = make(session)
    _answer(as_json, settings.link(path), link=settings.link(path))
