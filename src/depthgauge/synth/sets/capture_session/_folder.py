"""The folder of a session: who made it, with which parameters, and what may be replaced."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadData, CannotWrite
from depthgauge.sessions import Board, Session, open_session, write_session

MAKER = "depthgauge make capture-session"
REVISION = 1
"""Raised whenever the same parameters give other pictures."""
LOCK, PARTS = ".lock", ".parts"
_OURS = ("calibration", "passive", "pattern", "labels", "truth", PARTS)


def prepare(
    folder: Path,
    name: str,
    board: Board,
    parameters: Mapping[str, Any],
    passive: Mapping[str, Any] | None,
    *,
    overwrite: bool,
) -> Session:
    """The session in the folder, new or to be continued.

    Args:
        folder: The folder, which exists.
        name: The session's name.
        board: The calibration board.
        parameters: What all pictures depend on.
        passive: What passive images also depend on; None without passive images.
        overwrite: Removes a session with other parameters.

    Raises:
        CannotWrite: The folder contains something else, or a session with other parameters.
    """
    if overwrite:
        _clear(folder)
    notes: dict[str, Any] = {"parameters": {**parameters, "revision": REVISION}}
    if passive is not None:
        notes["passive"] = dict(passive)
    if (folder / "session.json").exists():
        notes = _merged(folder, notes)
    elif any(path.name not in (LOCK, *_OURS) for path in folder.iterdir()):
        raise CannotWrite(f"{folder}: holds other files already; choose an empty or new folder.")
    session = Session(folder, name, board, simulated=True, notes={"made_by": MAKER, **notes})
    write_session(session)
    return session


def note(session: Session, **more: Any) -> Session:
    """The session with something added to its notes."""
    notes = {**session.notes, **more}
    new = Session(
        session.folder, session.name, session.board, session.simulated, session.labels_on, notes
    )
    write_session(new)
    return new


def _merged(folder: Path, notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes of the existing session together with the new ones, if they agree."""
    there = open_made(folder, MAKER).notes
    found = {name: dict(there[name]) for name in ("parameters", "passive") if name in there}
    differ = [
        f"{name} {found[part].get(name)!r} (asked for {value!r})"
        for part, values in json.loads(json.dumps(notes)).items()
        for name, value in values.items()
        if part in found and found[part].get(name) != value
    ]
    if differ:
        raise CannotWrite(
            f"{folder}: holds a session with other parameters: {', '.join(differ)}; write "
            "elsewhere or overwrite it."
        )
    return {**found, **notes}


def open_made(folder: Path, maker: str) -> Session:
    """The session in a folder.

    Raises:
        CannotWrite: There is none, or another command made it.
    """
    try:
        session = open_session(folder)
    except BadData as error:
        raise CannotWrite(f"{error} Choose another folder.") from error
    if session.notes.get("made_by") != maker:
        raise CannotWrite(
            f"{folder}: holds a session that was not made by this command; choose another folder."
        )
    return session


def _clear(folder: Path) -> None:
    """Removes a session of ours, and nothing else."""
    if not (folder / "session.json").exists():
        return
    open_made(folder, MAKER)
    for name in _OURS:
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "session.json").unlink()


def need_folder(folder: Path) -> None:
    """Creates the folder.

    Raises:
        CannotWrite: It cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be created ({error.strerror}).") from error


def write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """Writes a picture and creates its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, picture)
