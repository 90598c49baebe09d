"""Options that several verbs share."""

from __future__ import annotations

import enum
import importlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

from depthgauge._compiled import NOTICE
from depthgauge._once import cached_property
from depthgauge.cli._names import completes
from depthgauge.errors import Misuse

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from depthgauge._options import CommandLine, Options
    from depthgauge.benchmarks import Protocol

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def quiet_option() -> click.Option:
    """`--quiet`, which every verb has."""
    return click.Option(
        ["--quiet"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_be_quiet,
        help="No progress, no warnings; errors are still printed.",
    )


def _be_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().meta["depthgauge.quiet"] = True
        NOTICE.silent = True


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json FILE`; without a file, or with `-`, only JSON goes to stdout."""
    return click.option(
        "--json",
        "json_to",
        metavar="[FILE]",
        is_flag=False,
        flag_value="-",
        help="Write strict JSON to FILE; without FILE, only JSON goes to stdout.",
    )(command)


def trust_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--trust`: files are not compared with the hashes of their dataset."""
    return click.option(
        "--trust",
        is_flag=True,
        help="Read files without comparing them with the SHA-256 in the dataset's manifest.",
    )(command)


def once(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The value of an option that may be given only once; click itself takes the last."""
    if len(values) > 1:
        raise click.UsageError(f"{param.opts[0]} is given {len(values)} times; give it once.")
    return values[0] if values else None


def benchmark_argument(required: bool = True) -> Decorator:
    """The benchmark: its id or a TOML file."""
    complete = completes("benchmarks", files=True)
    return click.argument("benchmark", required=required, shell_complete=complete)


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--focal` and `--thresholds`: what may be set of a benchmark, and changes its hash."""
    for option in (
        click.option(
            "--thresholds",
            type=click.IntRange(1, 999),
            metavar="K",
            help="For boundary benchmarks: how many thresholds, evenly between 0 and 1.",
        ),
        click.option(
            "--focal",
            "focal_px",
            type=click.FloatRange(1, 1e7),
            callback=_finite,
            metavar="PX",
            help="The focal length for depth estimates without one, in px at the truth's size.",
        ),
    ):
        command = option(command)
    return command


def _finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    # Comparisons do not reject NaN.
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("it must be a finite number.")
    return value


def with_settings(benchmark: str | Protocol, options: dict[str, Any]) -> str | Protocol:
    """The benchmark with the given `setting_options`, which are removed from the options."""
    given = {name: options.pop(name) for name in ("thresholds", "focal_px")}
    if all(value is None for value in given.values()):
        return benchmark
    from depthgauge.benchmarks import find_benchmark

    return find_benchmark(benchmark).with_settings(**given)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--workers`, `--cluster`, `--executor` and `--threads`."""
    for option in (
        click.option(
            "--threads",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Threads per worker; for networks, more threads and fewer workers. 0: no limit.",
        ),
        click.option(
            "--executor",
            metavar="NAME:OPTIONS",
            help="Where tasks run, instead of --workers and --cluster; packages can add executors.",
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="A dask scheduler, tcp://host:port, in place of worker processes.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=0),
            help="Worker processes; one per core by default. 0: in this process, which a "
            "method can then crash, and without a time limit.",
        ),
    ):
        command = option(command)
    return command


def board_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What sorts a leaderboard and what counts as a tie."""
    for option in (
        click.option(
            "--practical",
            multiple=True,
            metavar="SCORE=VALUE",
            help="Differences below VALUE in that score are ties; may be repeated.",
        ),
        click.option(
            "--accuracy",
            type=float,
            help="Error bound of the truth, in the quantity's unit: smaller differences are "
            "ties. By default the benchmark's.",
        ),
        click.option(
            "--main",
            metavar="SCORE",
            help="The score that sorts the methods; the first by default.",
        ),
    ):
        command = option(command)
    return command


def parse_practical(texts: tuple[str, ...]) -> dict[str, float]:
    """`SCORE=VALUE` pairs as numbers."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = -1.0
        if not name or not 0 <= found[name] < math.inf:
            raise Misuse(f"--practical {text}: write SCORE=VALUE, such as badpix:2@all=0.5.")
    return found


def new_folder(path: Path | None, beside: Path, ending: str) -> Path:
    """The folder that was given, or one beside another."""
    return path if path is not None else beside.with_name(f"{beside.name}-{ending}")


# --- options made from a class --------------------------------------------------------------------


def options_of(cls: type[Options] | str | Callable[[], type[Options]]) -> Decorator:
    """Makes the options of a command from a class; it is called with a checked `options` of it.

    A flag pair for true or false, a choice for words, ranges for limited numbers; the sentence of a
    field is its help, and defaults are shown. With the class itself, any command works. With its
    place, `"depthgauge.synth.stratified:Options"`, or a function that returns it, the class is
    imported when the command is used; the command is then declared with `cls=OptionsCommand`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        source = _Source(cls)

        @wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            return function(*args, options=source.take(given), **given)

        params = list(reversed(source.params())) if source.is_there else [_Place(source)]
        listed = getattr(function, "__click_params__", [])
        call.__click_params__ = [*listed, *params]  # type: ignore[attr-defined]  # click's own place
        return call

    return decorate


class OptionsCommand(click.Command):
    """A command whose class of options is imported when it is used."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with the options of the class in their place."""
        found: list[click.Parameter] = []
        for param in super().get_params(ctx):
            found += param.source.params() if isinstance(param, _Place) else [param]
        return found


class _Source:
    """A class of options and what is made of it."""

    def __init__(self, cls: type[Options] | str | Callable[[], type[Options]]) -> None:
        self._cls = cls
        self.is_there = isinstance(cls, type)

    @cached_property
    def cls(self) -> type[Options]:
        if isinstance(self._cls, str):
            module, _, name = self._cls.partition(":")
            found: type[Options] = getattr(importlib.import_module(module), name)
            return found
        return self._cls if isinstance(self._cls, type) else self._cls()

    def params(self) -> list[click.Parameter]:
        return [_option(n, f) for n, f in self._shown()]

    def take(self, given: dict[str, Any]) -> Options:
        """Takes the options out of a command's values; only options that were given are set."""
        ctx = click.get_current_context()
        said: dict[str, Any] = {}
        flags = {}
        for name, field in self._shown():
            value = given.pop(name)
            flags[name] = _flags(name, field)[0].partition("/")[0]
            if ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
                said[name] = _value(field, value)
        from depthgauge._options import checked_options

        options, problems = checked_options(self.cls, said, ctx.command_path)
        if options is None:
            words = (replace(p, where=flags.get(p.where, p.where)) for p in problems)
            raise Misuse(f"{'; '.join(map(str, words))}.")
        return options

    def _shown(self) -> Iterator[tuple[str, FieldInfo]]:
        return ((n, f) for n, f in self.cls.model_fields.items() if not _look(f).hidden)


class _Place(click.Option):
    """Stands for the options of a class that is not imported yet."""

    def __init__(self, source: _Source) -> None:
        super().__init__(["--options-of-a-class"], hidden=True, expose_value=False)
        self.source = source

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        raise TypeError(f"declare '{ctx.command.name}' with cls=OptionsCommand")


def _look(field: FieldInfo) -> CommandLine:
    from depthgauge._options import CommandLine

    return next((m for m in field.metadata if isinstance(m, CommandLine)), CommandLine())


def _flags(name: str, field: FieldInfo) -> list[str]:
    """`--size`, `-s`; of true or false the pair `--denoise/--no-denoise`."""
    flags = _look(field).flag.split("/") if _look(field).flag else [f"--{name.replace('_', '-')}"]
    if _core(field.annotation)[0] is bool:
        flags[0] += f"/--no-{flags[0].removeprefix('--')}"
    return flags


def _option(name: str, field: FieldInfo) -> click.Option:
    core, limits = _core(field.annotation)
    more = {} if core is bool else _shape(core, [*limits, *field.metadata])
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if default is not None:  # to click, a None that is given is a value
        more["default"] = default.value if isinstance(default, enum.Enum) else default
    return click.Option(
        [*_flags(name, field), name],
        required=field.is_required(),
        show_default=default is not None and default != (),
        help=field.description,
        metavar=_look(field).metavar or None,
        **more,
    )


def _core(annotation: Any, limits: tuple[Any, ...] = ()) -> tuple[Any, tuple[Any, ...]]:
    """The type without `| None`, and the limits that stand with it in an `Annotated`."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        limits += tuple(m for each in more for m in getattr(each, "metadata", [each]))
        return _core(inner, limits)
    parts = [part for part in get_args(annotation) if part is not NoneType]
    if NoneType in get_args(annotation) and len(parts) == 1:
        return _core(parts[0], limits)
    return annotation, limits


def _shape(core: Any, limits: list[Any]) -> dict[str, Any]:
    """How many values the option takes, and of which type."""
    if get_origin(core) not in (tuple, list):
        return {"type": _type(core, limits)}
    kinds = [_type(*_core(part)) for part in get_args(core) if part is not Ellipsis]
    if get_origin(core) is list or Ellipsis in get_args(core):
        return {"multiple": True, "type": kinds[0]}
    return {"type": tuple(kinds)}


def _type(kind: Any, limits: Iterable[Any]) -> click.ParamType[Any]:
    if get_origin(kind) is Literal:
        return click.Choice([str(word) for word in get_args(kind)])
    if not isinstance(kind, type):
        return click.STRING
    if issubclass(kind, enum.Enum):
        return click.Choice([str(member.value) for member in kind])
    if issubclass(kind, Path):
        what = next((m.path_type for m in limits if hasattr(m, "path_type")), "")
        there = {"exists": True, "file_okay": what == "file", "dir_okay": what == "dir"}
        return click.Path(path_type=Path, **(there if what in ("file", "dir") else {}))
    limited = _range(limits)
    if kind is int:
        return click.IntRange(**limited) if limited else click.INT
    if kind is float:
        return click.FloatRange(**limited) if limited else click.FLOAT
    return click.STRING


def _range(limits: Iterable[Any]) -> dict[str, Any]:
    """Click's words for pydantic's limits."""
    found: dict[str, Any] = {}
    for limit in limits:
        for ours, theirs in (("ge", "min"), ("gt", "min"), ("le", "max"), ("lt", "max")):
            if (value := getattr(limit, ours, None)) is not None:
                found |= {theirs: value, f"{theirs}_open": ours in ("gt", "lt")}
    return found


def _value(field: FieldInfo, value: Any) -> Any:
    """What the class is given; a choice among numbers is a number again."""
    core, _ = _core(field.annotation)
    words = get_args(core) if get_origin(core) is Literal else ()
    return next((word for word in words if str(word) == value), value)
