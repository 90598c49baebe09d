"""The manual pass: scenes that a person rejected are moved to a holdout beside the set."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from depthgauge.datasets._paths import inside
from depthgauge.datasets._stereogen import names
from depthgauge.errors import BadData, CannotWrite
from depthgauge.io.text import read_text
from depthgauge.synth.sets.rig import SceneOptions, folder_of

NOTES = "rejected.jsonl"


def holdout_of(out: Path) -> Path:
    """The folder of rejected scenes.

    >>> holdout_of(Path("sets/rig")).as_posix().endswith("sets/rig-holdout")
    True
    """
    out = out.resolve()
    return out.with_name(f"{out.name}-holdout")


def is_held(root: Path, number: int, options: SceneOptions) -> bool:
    """Whether a scene was moved to the holdout, so that it is not made again."""
    return folder_of(holdout_of(root), number, options) is not None


def read_verdicts(path: Path) -> dict[str, str]:
    """Rejected scenes and why: lines such as `eval/.../scene_000003  cut off at the left`.

    Empty lines and lines that begin with # are left out.

    Raises:
        BadFile: The file cannot be read.
    """
    found = {}
    for line in read_text(path).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            scene, _, why = line.strip().partition(" ")
            found[scene.strip("/")] = why.strip() or "rejected by hand"
    return found


def review(out: Path, verdicts: Path) -> list[str]:
    """Moves rejected scenes from a set to its holdout; the lists are left to the caller.

    Args:
        out: The folder of the set.
        verdicts: A text file, as `read_verdicts` reads it.

    Returns:
        The paths of the scenes that were moved now; those moved before are left out.

    Raises:
        BadData: A scene is in neither folder; nothing is moved.
        CannotWrite: The holdout cannot be written.
    """
    holdout, rejected = holdout_of(out), read_verdicts(verdicts)
    wanted = []
    for scene in rejected:
        here, there = inside(out, scene), inside(holdout, scene)
        if (here / names.BASELINE).is_file():
            wanted.append(scene)
        elif not (there / names.BASELINE).is_file():
            raise BadData(
                f"{verdicts}: there is no scene '{scene}' in {out}; paths are those of "
                f"{names.MANIFEST}."
            )
    try:
        for scene in wanted:
            there = holdout / scene
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(out / scene, there)
            with (holdout / NOTES).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"path": scene, "why": rejected[scene]}) + "\n")
    except OSError as error:
        raise CannotWrite(f"{holdout}: {error.strerror or error}.") from error
    return wanted
