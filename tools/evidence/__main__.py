"""`python -m tools.evidence`: records the figures that are not fresh, and writes their pages."""

from __future__ import annotations

from pathlib import Path

import click

from tools.evidence import FOLDER, Figure, MissingData, _accuracy_page, all_figures
from tools.evidence._trials_page import is_fresh, write_page


@click.command()
@click.argument("names", nargs=-1)
@click.option("--force", is_flag=True, help="Record fresh figures too.")
@click.option("--out", type=click.Path(path_type=Path), default=FOLDER, help="Where records go.")
@click.option("--check", is_flag=True, help="Measure nothing; say whether the page is fresh.")
def main(names: tuple[str, ...], force: bool, out: Path, check: bool) -> None:
    """Measure the figures NAMES, or all, and write one JSON file each.

    Then the pages that show recorded numbers are brought up to date.
    """
    if check:
        if not is_fresh():
            raise click.ClickException("docs/trials.md is stale; run `make evidence`.")
        return
    figures = all_figures()
    unknown = [name for name in names if name not in figures]
    if unknown:
        raise click.UsageError(f"no figure '{unknown[0]}'; known: {', '.join(figures)}.")
    missed = [name for name in names or figures if not _bring_up(figures[name], out, force)]
    if out.resolve() == FOLDER:
        _write_pages()
    if missed:
        raise click.ClickException(f"budgets are missed in {', '.join(missed)}.")


def _write_pages() -> None:
    from tools.evidence import (
        _gaps_page,
        _glass_chart,
        _layers_page,
        _people_page,
        _rig_page,
        _stereogen_page,
        _without_truth_chart,
        capture,
        capture_full,
        capture_thin,
        components,
        confidence,
        error_bars,
        hidden_truth,
        light_field,
        networks_difficulty,
        networks_refine,
        networks_spacetime,
        networks_synthetic,
        oasis_like,
        oasis_reconstruction,
        psychometric,
        quiz,
        registration,
        stratified_axes,
        tags,
        trials_others,
        without_truth,
    )

    write_page()
    first = (_accuracy_page, _gaps_page, light_field, capture, oasis_reconstruction, oasis_like)
    last = (hidden_truth, components, confidence, without_truth, psychometric, stratified_axes)
    more = (error_bars, trials_others, _layers_page, _people_page, registration, quiz)
    labels = (capture_full, capture_thin)
    nets = (networks_spacetime, networks_refine, networks_difficulty, networks_synthetic)
    for page in (*first, *more, *labels, *nets, tags, _rig_page, _stereogen_page, *last):
        page.write_page()
    error_bars.write_large_page()
    _glass_chart.draw()
    _without_truth_chart.draw()


def _bring_up(figure: Figure, out: Path, force: bool) -> bool:
    fresh = figure.is_fresh(out)
    if fresh and not force:
        click.echo(f"{figure.name}: fresh")
        return True
    try:
        numbers = figure.record(out)
    except MissingData as reason:
        click.echo(
            f"{figure.name}: {'fresh' if fresh else 'stale'}, cannot be recorded here: {reason}"
        )
        return True
    click.echo(f"{figure.name}: recorded")
    for n in numbers:
        expected = "" if n.expected is None else f", expected {n.expected:g} +- {n.budget:g}"
        click.echo(f" {' ' if n.met else '!'} {n.name}: {n.value:.6g}{expected}")
    return all(n.met for n in numbers)


if __name__ == "__main__":
    main(prog_name="python -m tools.evidence")
