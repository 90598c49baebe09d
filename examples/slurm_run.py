"""Runs methods on a benchmark with the nodes of a SLURM cluster.

    python slurm_run.py middlebury --data /shared/trainingH --out /shared/run -m sgbm --jobs 50

Every job is one dask worker; depthgauge starts one guarded process a thread in it. Data, run folder
and Python environment must be on storage that all nodes share. Stopped at any moment (also by
the queue), the same command goes on where it was.
"""

from __future__ import annotations

import sys

import click
from dask_jobqueue import SLURMCluster
from distributed import Client

import depthgauge as dg


@click.command()
@click.argument("benchmark")
@click.option("--data", required=True)
@click.option("--out", required=True)
@click.option("--method", "-m", "methods", multiple=True, required=True)
@click.option("--jobs", default=10, show_default=True, help="How many SLURM jobs.")
@click.option("--cores", default=4, show_default=True, help="Cores of a job; one estimate each.")
@click.option("--memory", default="16GB", show_default=True, help="Of a job.")
@click.option("--time", "walltime", default="04:00:00", show_default=True, help="Of a job.")
@click.option("--queue", default=None, help="SLURM partition.")
def main(
    benchmark: str,
    data: str,
    out: str,
    methods: tuple[str, ...],
    jobs: int,
    cores: int,
    memory: str,
    walltime: str,
    queue: str | None,
) -> None:
    """Start the jobs, run, and print what was found."""
    with SLURMCluster(
        queue=queue,
        cores=cores,
        processes=1,
        memory=memory,
        walltime=walltime,
        python=sys.executable,
    ) as cluster:
        cluster.scale(jobs=jobs)
        with Client(cluster) as client:
            client.wait_for_workers(1)  # for as long as the queue takes
        done = dg.run(
            benchmark, data, methods, out, cluster=cluster.scheduler_address, progress=show
        )
    click.echo(f"\n{done.path}: {len(done.samples)} samples, {len(done.entrants)} methods")
    failed = sum(len(result.failed) for result in done.results.values())
    sys.exit(1 if failed else 0)


def show(what: str, done: int, whole: int) -> None:
    """One line that is written over and over."""
    click.echo(f"\r{done} of {whole}: {what}".ljust(79)[:79], nl=False, err=True)


if __name__ == "__main__":
    main()
