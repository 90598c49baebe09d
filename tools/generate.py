"""Writes the parts of the documentation that come from declarations: `python -m tools.generate`.

A page marks such a part by two comments; what stands between them is replaced, the rest is kept:

    <!-- generated: metrics -->
    <!-- /generated -->

A benchmark that no page mentions gets its own page. `--check` writes nothing and exits with 1
where a page is stale.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from depthgauge.benchmarks import BENCHMARKS, Protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.capture.registry import STEPS
from depthgauge.cli import VERBS, depthgauge
from depthgauge.datasets import DATASETS, Dataset
from depthgauge.engine.running.task import GIVEN
from depthgauge.engine.scoring.in_memory.maps_protocol import default_metrics
from depthgauge.methods import METHODS, MethodKind, MethodSpec
from depthgauge.metrics import METRICS, Metric, Recipe
from depthgauge.metrics._taxonomy import CATEGORIES
from depthgauge.perturbations import EFFECTS
from depthgauge.quantities import QUANTITIES, Part, Quantity
from depthgauge.regions import REGIONS, SHARED_MAPS, Region, SharedMap
from depthgauge.synth.generators import GENERATORS

ROOT = Path(__file__).resolve().parent.parent
BENCHMARK_PAGES = Path("docs/benchmarks")
_PART = re.compile(
    r"<!-- generated: (?P<name>[\w ./-]+) -->\n.*?<!-- /generated -->", flags=re.DOTALL
)
_NOTE = "<!-- Written by `make docs`; changes here are lost. -->"


def main(arguments: list[str]) -> int:
    """Writes every stale page, or with `--check` only names them."""
    stale = {path: text for path, text in pages().items() if read(path) != text}
    for path, text in stale.items():
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        verb = "is stale; run `make docs`" if "--check" in arguments else "written"
        sys.stdout.write(f"{path.relative_to(ROOT)}: {verb}\n")
    return 1 if stale and "--check" in arguments else 0


def pages() -> dict[Path, str]:
    """Every page with generated parts, as it should be."""
    found = {path: read(path) for path in sorted((ROOT / "docs").rglob("*.md"))}
    marked = {path: text for path, text in found.items() if _PART.search(text)}
    mentioned = {part["name"] for text in marked.values() for part in _PART.finditer(text)}
    for name in BENCHMARKS:
        if f"benchmark {name}" not in mentioned:
            path = ROOT / BENCHMARK_PAGES / f"{name.removesuffix('-toolkit')}.md"
            title = f"# {BENCHMARKS[name].title or name}\n"
            before = marked.get(path) or found.get(path) or title
            marked[path] = f"{before}\n<!-- generated: benchmark {name} -->\n<!-- /generated -->\n"
    return {path: _PART.sub(_fill, text) for path, text in marked.items()}


def read(path: Path) -> str:
    """A page's text; nothing if there is no such page."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _fill(part: re.Match[str]) -> str:
    kind, _, name = part["name"].partition(" ")
    lines = "\n".join(_PARTS[kind](name)).strip()
    return f"<!-- generated: {part['name']} -->\n{_NOTE}\n\n{lines}\n\n<!-- /generated -->"


# Quantities.


def _quantities(_: str) -> Iterator[str]:
    for quantity in QUANTITIES.values():
        yield from _quantity(quantity)


def _quantity(quantity: Quantity) -> Iterator[str]:
    yield f"## `{quantity.name}`\n"
    yield f"{quantity.about}\n"
    yield f"- Unit: {quantity.unit or 'none'}"
    yield f"- Parts: {'; '.join(map(_part, quantity.parts))}"
    yield f"- Error of a pixel: {_ERRORS[quantity.error]}"
    yield f"- Shown by default: {_codes(default_metrics(quantity.name))}"
    if quantity.guessed_for:
        yield f"- Guessed for maps with {_or(quantity.guessed_for)} channel(s)"
    if quantity.positive:
        yield "- Values of zero and below are missing"
    if quantity.bounds:
        yield f"- Values are from {quantity.bounds[0]:g} to {quantity.bounds[1]:g}"
    yield f"- Revision {quantity.revision}.\n"


_ERRORS = {
    "difference": "estimate - truth",
    "length": "the length of the difference vector",
    "angle": "the angle between the two directions, in degrees",
    "channels": "the mean over the channels of the absolute difference",
    "matched": "none; lines or instances are matched as a whole",
}


def _part(part: Part) -> str:
    size = {None: ", any number of channels", 1: ""}.get(
        part.channels, f", {part.channels} channels"
    )
    shape = f"({', '.join(part.axes)}){size}" if part.axes else "a number"
    like = f", like `{part.like}`" if part.like else ""
    return f"`{part.name}` {shape}{like}{'' if part.required else ', not required'}"


def _or(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, numbers))


# Metrics.


def _metrics(_: str) -> Iterator[str]:
    for metric in METRICS.values():
        yield from _metric(metric)


def _metric_contents(_: str) -> Iterator[str]:
    """The table of contents: every metric under its category, with its first sentence."""
    part = ""
    for name, category in CATEGORIES.items():
        metrics = [metric for metric in METRICS.values() if metric.category == name]
        if not metrics:
            continue
        if category.part != part:
            part = category.part
            yield f"### {part}\n"
        yield f"**{category.title}.** {category.about}\n"
        yield "| metric | measures | uses truth |"
        yield "|---|---|---|"
        for metric in metrics:
            first = " ".join(metric.doc.partition("\n\n")[0].split()).replace("|", r"\|")
            truth = "yes" if metric.uses_truth else "no"
            yield f"| [`{metric.name}`](#{metric.name}) | {first} | {truth} |"
        yield ""


def _metric(metric: Metric) -> Iterator[str]:
    text, _, example = metric.doc.partition(">>>")
    low, high = metric.bounds
    units = {quantity: metric.unit.of(quantity) or "none" for quantity in metric.of}
    yield f"## `{metric.name}`\n"
    yield f"{text.strip()}\n"
    yield f"- Formula: `{metric.formula}`"
    yield f"- Scores: {', '.join(metric.of)}"
    yield f"- Unit: {_by_value(units)}"
    yield f"- Better: {_BETTER[metric.better]}; from {low:g} to {high:g}"
    yield f"- Parameters: {_parameters(metric.params, metric.choices)}"
    yield f"- Pools: {_codes(metric.pools)}"
    if metric.needs:
        yield f"- Needs: {_codes(metric.needs)}"
    if not metric.uses_truth:
        yield "- Truth: is not used"
    yield f"- A missing pixel: {_missing(metric)}"
    yield f"- Source: {metric.cite}"
    yield f"- Revision {metric.revision}.\n"
    if example:
        yield f"```python\n>>>{example.rstrip()}\n```\n"


_BETTER = {"lower": "lower", "higher": "higher", "zero": "near zero"}


def _missing(metric: Metric) -> str:
    """What a pixel without an estimate costs under `bad` and `skip`."""
    if metric.missing_costs:
        return f"{metric.missing_costs.rstrip('.')}."
    recipe = metric.recipe(**metric.bind({}))
    if isinstance(recipe, Recipe) and recipe.from_counts:
        return "is what it counts, under any `missing` rule."
    if isinstance(recipe, Recipe) and all(term.worst is not None for term in recipe.terms):
        return "`bad`: counts as a failure; `skip`: is left out."
    if recipe is None and abs(metric.worst) != float("inf"):
        return f"`bad`: counts as {metric.worst:g}; `skip`: is left out."
    return (
        "is left out under `bad` and `skip`, because there is no worst value to give it. Read the "
        "score with `density`. A sample without any estimate makes the pooled score incomplete."
    )


# Regions.


def _regions(_: str) -> Iterator[str]:
    for region in REGIONS.values():
        yield from _region(region)


def _shared_maps(_: str) -> Iterator[str]:
    for thing in SHARED_MAPS.values():
        yield from _region(thing)


def _region(region: Region | SharedMap) -> Iterator[str]:
    yield f"## `{region.name}`\n"
    yield f"{region.doc.strip()}\n"
    yield f"- Parameters: {_parameters(region.params, {})}"
    if isinstance(region, SharedMap) and region.provides != region.name:
        yield f"- Provides: `{region.provides}`"
    if needs := [name for name in region.needs if name not in ("quantity", "items")]:
        yield f"- Needs: {_codes(needs)}"
    if region.needs_any:
        yield f"- Needs the first of these that the sample has: {_codes(region.needs_any)}"
    if region.cite:
        yield f"- Source: {region.cite}"
    yield f"- Revision {region.revision}.\n"


# Perturbations.


def _perturbations(_: str) -> Iterator[str]:
    yield "| effect | level | neutral | bounds | suggested levels | damage |"
    yield "|---|---|---|---|---|---|"
    for effect in EFFECTS.values():
        levels = ", ".join(f"{level:g}" for level in effect.levels)
        low, high = effect.bounds
        first, _, _ = effect.doc.partition("\n")
        more = f" Parameters: {_parameters(effect.params, {})}." if effect.params else ""
        yield (
            f"| `{effect.name}` | {effect.unit or 'factor'} | {effect.neutral:g} | "
            f"{low:g} to {high:g} | {levels} | {first}{more} |"
        )


# Datasets.


def _datasets(_: str) -> Iterator[str]:
    for dataset in DATASETS.values():
        yield from _dataset(dataset)


def _dataset(dataset: Dataset) -> Iterator[str]:
    spec = dataset.spec
    yield f"## `{spec.id}`\n"
    yield f"{spec.title}.\n"
    yield f"- Files: `{spec.sample_layout}`"
    yield f"- Quantities: {', '.join(spec.quantities) or 'any'}"
    yield f"- Splits: {_codes(spec.splits) or 'as the data says, and `all`'}"
    if spec.estimate_layouts:
        yield f"- Estimates are also found as: {_codes(spec.estimate_layouts)}"
    for quantity, scale in spec.png_scales.items():
        name = quantity.capitalize()
        yield f"- {name} in a 16-bit PNG that says no scale: code / {scale:g}"
    yield f"- Written by depthgauge: {'yes' if dataset.writer else 'no'}"
    yield f"- Licence: {spec.licence}"
    if spec.cite:
        yield f"- Cite: {spec.cite}"
    if spec.homepage:
        yield f"- Home page: <{spec.homepage}>"
    yield f"- Revision {spec.revision}.\n"


# Methods.


def _methods(_: str) -> Iterator[str]:
    for kind in METHODS.values():
        yield from _method(kind)


def _method(kind: MethodKind) -> Iterator[str]:
    spec = kind.spec
    yield f"## `{spec.id}`\n"
    yield f"{spec.title}.\n"
    yield f"- Estimates: {', '.join(spec.quantities) or 'anything'}"
    if needs := [name for name in spec.needs if name not in GIVEN]:
        yield f"- Needs: {_codes(needs)}"
    if spec.cite:
        yield f"- Source: {spec.cite}"
    yield f"- Revision {spec.revision}.\n"
    yield "| option | default | values | meaning |"
    yield "|---|---|---|---|"
    for name, field in spec.options.model_fields.items():
        default = "(required)" if field.is_required() else _said(field)
        yield f"| `{name}` | {default} | {_values(field)} | {_meaning(spec, name, field)} |"
    yield ""


def _said(field: FieldInfo) -> str:
    """A default as it is written after `name=`; for a text, none cannot be written."""
    value = field.default
    if value is None and str in get_args(field.annotation):
        return "(none)"
    text = str(value).lower() if value is None or isinstance(value, bool) else str(value)
    return f"`{text}`"


def _meaning(spec: MethodSpec, name: str, field: FieldInfo) -> str:
    text = " ".join((field.description or "").split()).replace("|", r"\|")
    if name == spec.text_option:
        text += f" It is the text after `{spec.id}:`."
    return f"{text} Not hashed." if name in spec.local else text


_KINDS = {bool: "true, false", int: "whole number", float: "number", str: "text", Path: "path"}
_LIMITS = {
    "ge": "{:g} or more",
    "gt": "more than {:g}",
    "le": "at most {:g}",
    "lt": "less than {:g}",
}


def _values(field: FieldInfo) -> str:
    """What an option may be, in words."""
    parts = get_args(field.annotation) or (field.annotation,)
    if get_origin(field.annotation) is Literal:
        return _codes(parts)
    words = [_KINDS.get(part, str(part)) for part in parts if part is not NoneType]
    for limit in field.metadata:
        words += [
            text.format(getattr(limit, key)) for key, text in _LIMITS.items() if hasattr(limit, key)
        ]
        if pattern := getattr(limit, "pattern", None):
            words = [_codes(re.findall(r"\w+", pattern))]
    return ", ".join([*words, *(["`none`"] if NoneType in parts and str not in parts else [])])


# Capture steps.


def _step_options(name: str) -> Iterator[str]:
    """The options of one step, with their defaults."""
    yield "| option | default | meaning |"
    yield "|---|---|---|"
    for option, field in STEPS[name].spec.options.model_fields.items():
        default = "" if field.default is None else f"`{str(field.default).lower()}`"
        meaning = " ".join((field.description or "").split()).replace("|", r"\|")
        yield f"| `{option}` | {default} | {meaning} |"


# Benchmarks.


def _benchmark(name: str) -> Iterator[str]:
    protocol = BENCHMARKS[name]
    yield f"## `{name}`\n"
    if protocol.about:
        yield f"{protocol.about.strip()}\n"
    yield "| | |"
    yield "|---|---|"
    for key, value in _benchmark_facts(protocol):
        yield f"| {key} | {value} |"
    yield ""
    yield from _twin_scores(protocol) if protocol.twin else _scores(protocol)


def _benchmark_facts(protocol: Protocol) -> Iterator[tuple[str, str]]:
    yield "version", str(protocol.version)
    yield "protocol hash", f"`{protocol.hash}`"
    yield "dataset, split", f"`{protocol.dataset}`, `{protocol.split}`"
    yield "quantity", protocol.quantity
    if protocol.twin is None:  # which has its own rules, as options
        yield "scale of the truth", f"{protocol.truth_scale:g}"
        values = f"values {protocol.resize_values}"
        yield "estimate of another size", f"`{protocol.estimate_resize}`, {values}"
        yield _crop(protocol)
        yield from _depth_limits(protocol)
        yield "alignment", f"`{protocol.align.kind}`"
        yield "missing estimate", f"`{protocol.missing}`"
        yield "estimates count within", _range(protocol)
    yield "pooling", f"`{protocol.pool}`"
    if protocol.twin is not None:
        twin = TWINS[protocol.twin]
        yield "numbers", twin.source(twin.options(protocol.options))
    for tier, inputs in protocol.tiers.items():
        yield f"tier {tier}", ", ".join(f"`{name}`" for name in inputs)
    for thing, text in protocol.derived.items():
        yield f"derived `{thing}`", f"`{text}`"
    for name, text in _ranged(protocol.regions).items():
        yield f"region `{name}`", f"`{text}`".replace("|", r"\|")


def _crop(protocol: Protocol) -> tuple[str, str]:
    if protocol.box is not None:
        return "only scored inside", f"`{protocol.crop}`: rows, columns {protocol.box.text}"
    unit = "px" if isinstance(protocol.crop, int) else "of the shorter side"
    return "border left out", f"{protocol.crop} {unit}"


def _depth_limits(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Which truth counts, and what is done to estimates, where a protocol says so."""
    said = protocol.truth
    ends = {"from": said.min_depth_m, "to": said.max_depth_m}
    texts = [f"{word} {value:g} m" for word, value in ends.items() if value is not None]
    if texts:
        yield "truth counts", f"{' '.join(texts)}, {said.limits}"
    if protocol.estimate.inverse:
        yield "estimates are", "inverse depths"
    if protocol.estimate.clip is not None:
        low, high = protocol.estimate.clip
        yield "estimates are clipped", f"to {low:g} .. {high:g} m"


def _ranged(table: Mapping[str, str]) -> dict[str, str]:
    """Numbered names in one line, as a benchmark file may write them."""
    families: dict[tuple[str, str], list[int]] = {}
    for name, text in table.items():
        stem, number = _numbered(name)
        whole = re.sub(rf"_{number}\b", "_{}", text) if number else text
        families.setdefault((stem, whole), []).append(number)
    found = {}
    for (stem, text), numbers in families.items():
        several = len(numbers) > 1
        count = f"{{{numbers[0]}..{numbers[-1]}}}" if several else str(numbers[0])
        found[stem + count if numbers[0] else stem] = text.replace("{}", count)
    return found


def _numbered(name: str) -> tuple[str, int]:
    """The name before its number, and the number, 0 for none."""
    found = re.fullmatch(r"(.+_)([1-9]\d*)", name)
    return (found[1], int(found[2])) if found else (name, 0)


def _range(protocol: Protocol) -> str:
    allowed = protocol.estimate.range
    if allowed == "inputs":
        return "the disparity range that methods are given"
    return "any range" if isinstance(allowed, str) else f"{allowed[0]:g} to {allowed[1]:g}"


def _scores(protocol: Protocol) -> Iterator[str]:
    yield "| metric | parameters | regions |"
    yield "|---|---|---|"
    for block in protocol.scores:
        given = ", ".join(f"{k} {_listed(value)}" for k, value in (block.model_extra or {}).items())
        if block.resolution:
            given = ", ".join(filter(None, [given, f"at the {block.resolution} resolution"]))
        regions = (block.region,) if isinstance(block.region, str) else block.region
        regions = tuple(_ranged({name: name for name in regions if name}))
        where = _codes(regions) if regions else "everything"
        name = f", as `{block.name}`" if block.name not in ("", block.metric) else ""
        part = f" of `{block.part}`" if block.part else ""
        metric = f"[`{block.metric}`](../metrics.md#{block.metric}){part}{name}"
        yield f"| {metric} | {given} | {where} |"
    yield ""


def _listed(value: Any) -> str:
    """A parameter's value or values; words without quotes."""
    words = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " and ".join(value) if words else str(value)


def _twin_scores(protocol: Protocol) -> Iterator[str]:
    twin = TWINS[str(protocol.twin)]
    options = twin.options(protocol.options)
    yield f"Twin `{protocol.twin}`, revision {twin.revision}, with these options:\n"
    yield "| option | value | |"
    yield "|---|---|---|"
    for key, value in options.items():
        yield f"| `{key}` | `{value}` | {twin.explained.get(key, '')} |"
    yield f"\nScores: {_codes(twin.score_ids(options))}.\n"


# Generators.


def _generators(_: str) -> Iterator[str]:
    yield "| `depthgauge make` | what it makes | revision |"
    yield "|---|---|---|"
    for name, generator in GENERATORS.items():
        link = f"[`{name}`](cli.md#depthgauge-make-{name})"
        yield f"| {link} | {generator.spec.summary} | {generator.spec.revision} |"


# The command line.


def _cli(_: str) -> Iterator[str]:
    context = click.Context(depthgauge, info_name="depthgauge")
    for verb in VERBS:
        command = depthgauge.get_command(context, verb)
        if command is not None:
            yield from _command(command, f"depthgauge {verb}")


def _command(command: click.Command, name: str) -> Iterator[str]:
    yield f"## `{name}`\n"
    arguments = [_argument(p) for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option)]
    rest = ["VERB ..."] if isinstance(command, click.Group) else []
    words = [name, *(["[OPTIONS]"] if options else []), *arguments, *rest]
    yield f"```text\n{' '.join(words)}\n```\n"
    yield from _help(command.help or "")
    if options:
        yield "| option | |"
        yield "|---|---|"
        yield from (_option(option) for option in options)
        yield ""
    if isinstance(command, click.Group):
        for verb, part in command.commands.items():
            yield from _command(part, f"{name} {verb}")


def _argument(argument: click.Argument) -> str:
    text = str(argument.metavar or argument.name).upper()
    return text if argument.required else f"[{text}]"


def _option(option: click.Option) -> str:
    names = ", ".join(option.opts)
    value = "" if option.is_flag else " " + _value_name(option)
    notes = []
    if option.multiple and "repeated" not in (option.help or ""):
        notes.append("may be repeated")
    if option.show_default:
        notes.append(f"default `{option.default}`")
    text = (option.help or "") + (f" ({', '.join(notes)})" if notes else "")
    return f"| `{names}{value}` | {text} |"


def _value_name(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "[" + r"\|".join(str(choice) for choice in option.type.choices) + "]"
    return option.type.name.upper().removesuffix(" RANGE")


def _help(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with a backspace is shown as it is."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            shown = paragraph[1:].strip("\n")
            yield f"```text\n{shown}\n```\n"
        else:
            yield f"{paragraph.strip()}\n"


# Words.


def _codes(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _by_value(values: dict[str, str]) -> str:
    """`px for disparity, m for depth`, or one word where all are the same."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{value} for {key}" for key, value in values.items())


def _parameters(params: Any, choices: Any) -> str:
    texts = []
    for name, default in params.items():
        text = f"`{name}`"
        if default is None or default is inspect.Parameter.empty:
            text += " (required)"
        else:
            text += f" = `{default:g}`" if isinstance(default, float) else f" = `{default}`"
        if name in choices:
            text += f" (one of {_codes(choices[name])})"
        texts.append(text)
    return ", ".join(texts) or "none"


_PARTS: dict[str, Callable[[str], Iterator[str]]] = {
    "metrics": _metrics,
    "metric-contents": _metric_contents,
    "quantities": _quantities,
    "regions": _regions,
    "shared-maps": _shared_maps,
    "perturbations": _perturbations,
    "datasets": _datasets,
    "methods": _methods,
    "step-options": _step_options,
    "benchmark": _benchmark,
    "generators": _generators,
    "cli": _cli,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
