"""The command line: one file per verb, no logic. A verb is imported when it is used."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TextIO

import click

from depthgauge._version import __version__
from depthgauge.cli._options import quiet_option
from depthgauge.cli._output import Stopped, is_terminal, one_line, warn
from depthgauge.errors import DepthgaugeError, DepthgaugeWarning, RunWarning

VERBS = {
    "demo": "make scenes, run the baselines, score them, and write a report",
    "score": "score two maps, or a folder of estimates on a benchmark",
    "run": "run methods on a benchmark and score them",
    "report": "a run as one page, or as tables for a terminal or a paper",
    "compare": "put two comparable runs into one table",
    "explain": "which protocol gives a published number; how ranks depend on the protocol",
    "components": "what each step of a method contributes",
    "suite": "put the scores on several benchmarks into one table with average ranks",
    "ranking": "people rank methods by what they see, in the browser",
    "study": "compare people's rankings of methods with each other and with metrics",
    "rescore": "score the estimates of a run under another protocol",
    "verify": "score a run again and say whether the numbers are the same",
    "check": "find all problems in a folder of estimates before scoring it",
    "list": "list metrics, regions, datasets, methods or benchmarks",
    "show": "explain one metric, region, dataset, method or benchmark",
    "make": "make data with exact truth",
    "capture": "from photographs under projected patterns to ground truth",
    "annotate": "from drawings on a photograph to normals, depth and agreement",
    "data": "download a public dataset",
    "dataset": "verify, audit or describe a dataset folder",
    "serve": "run a site with submissions, hidden truth and leaderboards",
    "submit": "send a folder of estimates to a site",
    "submit-folder": "write the estimates of a run as a public server expects them",
    "train": "train our networks on synthetic pairs, and export them",
    "fine-tune": "fine-tune one of our networks on your own dataset",
    "new": "write a new metric, region, dataset, method ... and its test from a template",
    "doctor": "show what this installation has and what it lacks",
    "completion": "print the script that completes commands in your shell",
}


_ROOMS = dict.fromkeys(
    (
        "explain",
        "components",
        "suite",
        "submit-folder",
        "data",
        "new",
        "ranking",
        "study",
        "train",
        "fine-tune",
    ),
    ".workshop",
)
"""Verbs whose file is in a folder of this one."""


class _Verbs(click.Group):
    """Knows the verbs by name; `--help` imports none of them."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("stopped.") from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        room = _ROOMS.get(cmd_name, "")
        file = cmd_name.replace("-", "_")
        module = importlib.import_module(f"depthgauge.cli{room}.{file}_verb")
        command: click.Command = module.command
        _add_quiet(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from depthgauge._registry import nearest

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            hint = nearest(args[0], VERBS) or f"There are: {', '.join(VERBS)}."
            raise click.UsageError(f"no verb '{args[0]}'. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _add_quiet(command: click.Command) -> None:
    """Every verb has `--quiet`, also those below another."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _add_quiet(below)
    elif not any(param.name == "quiet" for param in command.params):
        command.params.append(quiet_option())


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: depthgauge demo",
)
@click.version_option(__version__, prog_name="depthgauge")
def depthgauge() -> None:
    """Scores you can trust for everything that sees depth.

    Data goes to stdout, progress to stderr. Exit code 0: done, 1: failed, 2: misused.
    """


depthgauge.params.append(quiet_option())


def main() -> None:
    """Runs the command line; a known error is one sentence, never a traceback."""
    # Else numba ends every command with an escape sequence where colorama is installed.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    _take_any_character()
    warnings.showwarning = _show_warning
    # Verbs print notes with their results, and with options in place of arguments.
    warnings.simplefilter("ignore", DepthgaugeWarning)
    try:
        code = depthgauge.main(standalone_mode=False)
    except Stopped as error:
        if is_terminal(sys.stderr):
            click.echo(err=True)  # after the ^C that the terminal shows
        code = _say(str(error), error.exit_code)
    except DepthgaugeError as error:
        code = _say(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Abort:
        code = _say("stopped.", 130)
    except BrokenPipeError:
        # The reader of our output is gone; Python would complain again when closing stdout.
        sys.stderr.close()
        code = 1
    except MemoryError:
        code = _say("there is not enough memory for maps of this size.", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        code = _say(f"{where}{error.strerror or error}.", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _take_any_character() -> None:
    """Arrows and odd names must not end a command if the terminal's encoding lacks them."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Warnings of ours are one line."""
    from depthgauge._registry import PluginWarning

    if issubclass(category, (PluginWarning, RunWarning)):
        warn(str(message))
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno), err=True, nl=False)


def _say(text: str, code: int) -> int:
    click.echo(f"error: {one_line(text)}", err=True)
    return code
