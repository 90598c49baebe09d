"""What our networks reach, as the tables of the papers: `python -m tools.network_tables`.

Rooms with glass give tables per layer and material (tables 2 to 5 of Wen et al. 2024, our data);
stratified pairs give the difficulty at which half of the pixels fail. Data and runs are kept in a
folder, so a stopped call continues; both sets need time, mostly for rendering.
"""

from __future__ import annotations

from pathlib import Path

import click

LAYER_METHODS = ("nets-layers", "nets-flow", "dis", "farneback", "peel")
STEREO_METHODS = ("nets-stereo", "sgbm", "bm")


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("out/network-tables"))
@click.option("--table", type=click.Choice(["layers", "difficulty", "both"]), default="both")
@click.option("--pairs", type=int, default=16, help="Rooms with glass.")
@click.option("--size", type=int, default=512, help="Side of stratified pairs in px.")
@click.option("--seed", type=int, default=9100, help="Of both sets; nothing was tuned on it.")
def main(work: Path, table: str, pairs: int, size: int, seed: int) -> None:
    """Makes both sets, runs the networks and classical methods, and prints the tables."""
    if table in ("layers", "both"):
        rooms = ("layers", "--pairs", pairs, "--seed", seed, "--width", 480, "--height", 360)
        _print("layers-flow", rooms, LAYER_METHODS, work / f"layers-{pairs}-{seed}", "layers")
    if table in ("difficulty", "both"):
        scenes = ("stratified", "--stereo", "--size", size, "--seed", seed)
        _print("stratified-stereo", scenes, STEREO_METHODS, work / f"pairs-{size}", "difficulty")


def _print(
    benchmark: str, what: tuple[object, ...], methods: tuple[str, ...], work: Path, pivot: str
) -> None:
    """Makes a set if it is not there, runs the methods on it, and prints a table of the run."""
    data, run = work / "data", work / "run"
    if not data.is_dir():
        _depthgauge("make", *what, "--out", data)
    chosen = (part for method in methods for part in ("-m", method))
    _depthgauge("run", benchmark, "--data", data, *chosen, "--out", run, "--workers", 1)
    _depthgauge("report", run, "--text", "--pivot", pivot)


def _depthgauge(*words: object) -> None:
    """A command of the command line, as a person would give it."""
    import subprocess
    import sys

    subprocess.run([sys.executable, "-m", "depthgauge", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
