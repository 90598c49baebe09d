"""`python -m perf.serve_large`: what a submission of 12-megapixel maps costs a site.

A benchmark of one stereo scene of 4112 x 3008 px, with public truth, and one submission to it:
scoring, and drawing the tiles, maps and points that its pages show, each in a process of its own.
Writes `perf/serve_large.json` and the table of `docs/operators.md` that is made from it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tools._measured import table, update

from depthgauge.datasets import manifest_folder
from depthgauge.serve.accounts import links, people
from depthgauge.serve.exhibits import drawer, queue
from depthgauge.serve.site import Site, open_site
from depthgauge.serve.storage.blobs import file_sha256
from depthgauge.serve.storage.models import User
from depthgauge.serve.submissions import intake, worker
from depthgauge.serve.submissions.registry import add_benchmark
from depthgauge.synth.sets.stereo_scenes import make_scenes

HERE = Path(__file__).parent
SIZE_PX = (4112, 3008)
_PASSWORD = "a long password"


def measure(size_px: tuple[int, int] = SIZE_PX) -> dict[str, Any]:
    """Makes the site and the submission, then has it scored and drawn."""
    with tempfile.TemporaryDirectory(prefix="depthgauge-large-") as name:
        folder = Path(name)
        site = open_site(folder / "site")
        archive_bytes = _fill(site, folder, size_px)
        steps = {
            "scoring": _in_process(_score, site),
            "drawing the sample": _in_process(_draw, site),
            "drawing the submission": _in_process(_draw, site),
        }
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "size_px": list(size_px),
        "archive, MB": round(archive_bytes / 1e6, 1),
        "steps": steps,
    }


def _fill(site: Site, folder: Path, size_px: tuple[int, int]) -> int:
    """A benchmark of one sample, and a submission in its queue; the size of its archive."""
    from depthgauge.serve.client import pack

    scenes = list(make_scenes(("boxes",), size_px=size_px))
    manifest_folder.write(
        folder / "data", scenes, id="stereo-scenes", title="Stereo scenes", licence="CC0-1.0"
    )
    truth = scenes[0].truth
    assert truth is not None
    noise = np.random.default_rng(0).normal(0, 0.5, truth["disparity"].shape)
    (folder / "mine" / "boxes").mkdir(parents=True)
    values = (truth["disparity"] + noise).astype(np.float32)
    np.save(folder / "mine" / "boxes" / "disparity.npy", values)
    archive = folder / "mine.zip"
    pack(folder / "mine", archive)
    with site.connected() as database:
        add_benchmark(site, database, "stereo-scenes", folder / "data")
        with database.begin() as session:
            secret = links.first_admin_link(session)
            assert secret is not None
            people.join(session, secret, "p@large.example", "P", _PASSWORD)
            user = session.query(User).one()
        size = archive.stat().st_size
        upload_id = intake.begin_upload(
            site, database, user, "stereo-scenes", size, file_sha256(archive)
        )
        with database.begin() as session:
            upload = intake.find_upload(session, user, upload_id)
        content = archive.read_bytes()
        for begin in range(0, size, 8 << 20):
            intake.append(site, upload, begin, content[begin : begin + (8 << 20)])
        intake.submit(site, database, user, upload_id, intake.Entry("Mine"))
    return size


def _in_process(work: Callable[[Site], int], site: Site) -> dict[str, float]:
    """Seconds and core seconds of a step, with all that it starts, and its own memory."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        found: dict[str, float] = pool.apply(_measured, (work, site))
    return found


def _measured(work: Callable[[Site], int], site: Site) -> dict[str, float]:
    begun = time.perf_counter()
    written = work(site)
    wall = time.perf_counter() - begun
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "s": round(wall, 1),
        "core s": round(sum(one.ru_utime + one.ru_stime for one in both), 1),
        "peak MB": round(_peak_kb() / 1000),
        "kept MB": round(written / 1e6, 1),
    }


def _peak_kb() -> int:
    """The most memory of this process; `getrusage` also counts what its parent had before."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _score(site: Site) -> int:
    with site.connected() as database:
        if not worker.work_once(site, database):
            raise SystemExit("there is nothing to score")
    return 0


def _draw(site: Site) -> int:
    with site.connected() as database:
        found = queue.take(database)
        if found is None:
            raise SystemExit("there is nothing to draw")
        sha256 = drawer.draw(site, found)
        queue.finish(database, found, sha256)
    return site.blobs.path(sha256).stat().st_size


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/operators.md up to date; True where it is."""
    found = json.loads((HERE / "serve_large.json").read_text())
    columns = ("s", "core s", "peak MB", "kept MB")
    rows = [
        [name, *(f"{one[column]:g}" if column in one else "-" for column in columns)]
        for name, one in found["steps"].items()
    ]
    width, height = found["size_px"]
    sentence = (
        f"One sample of {width} x {height} px, an archive of {found['archive, MB']:g} MB, kernels "
        f"compiled, on {found['machine']}, with other work beside it."
    )
    text = f"{table(['', *columns], rows)}\n\n{sentence}"
    return update("operators.md", {"large": text}, "perf.serve_large", check)


def main() -> None:
    """Measures, writes the record and the page."""
    parser = argparse.ArgumentParser(prog="python -m perf.serve_large", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: proves that it works")
    options = parser.parse_args()
    found = measure((320, 240) if options.quick else SIZE_PX)
    print(json.dumps(found, indent=1))
    if not options.quick:
        (HERE / "serve_large.json").write_text(json.dumps(found, indent=1) + "\n")
        write_page()


if __name__ == "__main__":
    main()
