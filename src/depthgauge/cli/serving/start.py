"""`depthgauge serve DIR`: runs a site."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from depthgauge.cli._output import print_table, progress_bar, say
from depthgauge.cli.serving._options import FOLDER, PORT, database_option, open_the_site
from depthgauge.errors import DepthgaugeError, Misuse

if TYPE_CHECKING:
    from depthgauge.serve.site import Site


@click.command("start")
@click.argument("folder", type=FOLDER, required=False)
@click.option("--demo", is_flag=True, help="A site with benchmarks and baselines to look at.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=PORT, show_default=True, help="The port to listen on.")
@click.option("--public-url", help="How browsers reach the site.  [default: http://HOST:PORT]")
@click.option(
    "--trusted-proxy", multiple=True, help="Address of a proxy whose X-Forwarded-For counts."
)
@click.option("--workers", type=click.IntRange(0, 64), default=1, show_default=True)
@click.option(
    "--cluster",
    default="",
    envvar="DEPTHGAUGE_CLUSTER",
    help="A dask cluster that scores in place of workers here: tls://HOST:PORT.",
)
@click.option(
    "--only",
    type=click.Choice(["web", "workers"]),
    default=None,
    help="Run this part alone, if web and workers run as two users.",
)
@click.option(
    "--smtp",
    default="",
    envvar="DEPTHGAUGE_SMTP",
    help="The address of a mail server: smtp://USER:PASSWORD@HOST:587. If absent, links are shown.",
)
@click.option(
    "--registration",
    type=click.Choice(["invited", "open"]),
    default="invited",
    show_default=True,
    help="Who can make an account; open: everybody with a mail address, which needs --smtp.",
)
@click.option(
    "--metrics-token",
    default="",
    envvar="DEPTHGAUGE_METRICS_TOKEN",
    help="Lets anyone who has it read /metrics from elsewhere; by default only this machine can.",
)
@click.option(
    "--organisation",
    default="",
    envvar="DEPTHGAUGE_ORGANISATION",
    help="Who runs the site: author in citations of its leaderboards, and creator of DOIs.",
)
@click.option(
    "--archives",
    default="",
    envvar="DEPTHGAUGE_ARCHIVES",
    help="Where archives are kept: s3://BUCKET/FOLDER; on the disk by default.",
)
@database_option
def _start(
    folder: Path | None,
    demo: bool,
    host: str,
    port: int,
    public_url: str | None,
    trusted_proxy: tuple[str, ...],
    workers: int,
    cluster: str,
    only: str | None,
    smtp: str,
    registration: str,
    metrics_token: str,
    organisation: str,
    archives: str,
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
    site = open_the_site(folder, database, archives, must_exist=False)
    from depthgauge.serve.accounts.links import first_admin_link
    from depthgauge.serve.running import run_site
    from depthgauge.serve.web.settings import WebSettings

    settings = WebSettings(
        public_url or f"http://{host}:{port}",
        trusted_proxy,
        mail=bool(smtp),
        registration=registration,
        metrics_token=metrics_token,
        organisation=" ".join(organisation.split()),
    )
    if demo:
        _fill(site)
    secret = None
    if only != "workers":
        with site.connected() as tables, tables.begin() as session:
            secret = first_admin_link(session)

    def tell() -> None:
        if only == "workers":
            say(f"{folder}: the site has workers. Ctrl-C ends them.")
        else:
            say(f"{settings.origin}: the site of {folder} is running. Ctrl-C ends it.")
        if secret is not None:
            say("There is no admin yet. This link makes one, once, within an hour:")
            click.echo(settings.link(f"join/{secret}"))
        if demo:
            Thread(target=_add_viewers, args=(site,), daemon=True).start()

    run_site(
        site,
        settings,
        host=host,
        port=port,
        workers=workers,
        smtp=smtp,
        cluster=cluster,
        only=only or "",
        on_ready=tell,
    )


def _fill(site: Site) -> None:
    from depthgauge.serve.demo import make_demo

    with progress_bar("making a demo") as step, site.connected() as tables:
        accounts = make_demo(site, tables, site.root / "demo", progress=step)
    if accounts:
        rows = [[one.role, one.email, one.password] for one in accounts]
        print_table([(name, "left") for name in ("role", "e-mail", "password")], rows)


def _add_viewers(site: Site) -> None:
    """Adds the rest of the demo while people already look at it."""
    from depthgauge.serve.demo_viewers import add_viewers

    try:
        with site.connected() as tables:
            add_viewers(site, tables, site.root / "demo")
    except DepthgaugeError as error:
        say(f"The demo has no light fields or right views: {error}")


COMMAND = _start
