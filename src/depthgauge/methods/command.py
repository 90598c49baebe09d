"""Any program with a command line: it gets input files and writes an estimate to a file."""

from __future__ import annotations

import re
import shlex
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from depthgauge import io
from depthgauge.errors import BadFile, MethodFailed, UnknownScale
from depthgauge.io.beside import read_parts
from depthgauge.methods._calls.returned import SpoolFolder
from depthgauge.methods._command import template as template_text
from depthgauge.methods._command.process import ProcessExit, run
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs, Map

_KEPT_CHARACTERS = 4000
_LONGEST_LINE = 300
_SIZE = re.compile("full|half|quarter|[1-9][0-9]*x[1-9][0-9]*")


def _checked_size(value: str | None) -> str | None:
    if value is None or _SIZE.fullmatch(value):
        return value
    raise ValueError(f"is {value!r} but must be full, half, quarter or a size such as 320x192")


_MORE_TIME = "give it more time with --time-limit (in Python and in files: time_limit_s)"


class CommandOptions(MethodOptions):
    """Options of `command`."""

    template: Annotated[str, AfterValidator(template_text.checked)]
    """The program and its arguments, e.g. `python infer.py {left} {right} {out}`. There is no
    shell: quotes group words, and each placeholder is replaced within its own argument. Pictures:
    {left} {right} {first} {second} {image}, others by the input's name ({centre_image}), as PNG
    (8 bits, or 16 if the picture is float). {out}: the file to write; {out_dir}: its folder.
    {rig}: JSON with cameras and baseline. {disparity} {depth}: maps, as NPY. {sample} {quantity}
    {seed} {min_disparity} {max_disparity}: values. `{{` and `}}` are braces."""
    whole_clips: bool = False
    """Whether the program is run once for a clip, not once for a frame: pictures and maps are
    folders with a file per frame (`000000.png`, `000001.png` ...), and it writes one per frame
    into {out_dir}, in the order of their names."""
    most_frames: int | None = Field(default=None, gt=0)
    """It makes only so many frames of a clip, the first ones, and is scored on those."""
    time_limit_s: float = Field(default=600, gt=0)
    """The program, and everything that it started, is killed after this time."""
    out_suffix: str = Field(default="npy", pattern=r"^(npy|npz|pfm|png|flo|exr|tif|tiff)$")
    """Suffix of {out}: the format that the program writes."""
    input_size: Annotated[str | None, AfterValidator(_checked_size)] = None
    """The size to which the program resizes the pictures, shown in the column of that name in
    tables: `320x192`, `full`, `half` or `quarter`. It has no effect."""
    folder: Path = Path()
    """The program's working directory, which relative paths in the template refer to: the current
    directory, or the folder of the TOML file."""

    def short_name(self) -> str:
        """The program's name, or that of the script that an interpreter runs."""
        return template_text.program_name(self.template)

    def takes(self) -> tuple[str, ...]:
        """The inputs that its placeholders stand for."""
        return template_text.inputs_of(self.template)


SPEC = MethodSpec(
    id="command",
    title="A program with a command line",
    quantities=(),
    needs=("quantity",),
    options=CommandOptions,
    text_option="template",
    local=("time_limit_s", "input_size", "folder"),
)


def estimate(inputs: Inputs, options: CommandOptions) -> Estimate | ClipEstimate:
    """Runs the program on files in a private folder, which is removed afterwards.

    Its output, its exit code, its cost (`usage`) and the estimate's size are in `extras`.

    Raises:
        Unavailable: The sample lacks the input for a placeholder.
        MethodFailed: The program cannot be started, ended with an error, ran too long, or did not
            write a readable file; `details` contains the end of its output.
    """
    with tempfile.TemporaryDirectory(prefix="depthgauge-", ignore_cleanup_errors=True) as name:
        call = _Call(inputs, options, Path(name).resolve())
        return call.clip() if options.whole_clips else call.estimate()


@dataclass(frozen=True, slots=True)
class _Call:
    """One run of the program, in its private folder."""

    inputs: Inputs
    options: CommandOptions
    folder: Path

    def estimate(self) -> Estimate:
        said = self._done()
        values = self._read(said)
        height, width = values.shape[:2]
        quantity = self.inputs["quantity"]
        extras = {**said, "size_px": [width, height]}
        return Estimate(values, quantity, read_parts(self._out, quantity), extras)

    def clip(self) -> ClipEstimate:
        """A file for each frame; they are kept elsewhere, as this folder is removed."""
        said, quantity, kept = self._done(), self.inputs["quantity"], SpoolFolder()
        found = sorted(path for path in self._out.parent.rglob("*") if path.is_file())
        if not found:
            raise self._failed("ended well but wrote no file into {out_dir}", said)
        frames = [
            kept.keep(index, Estimate(self._read_file(path, said), quantity))
            for index, path in enumerate(found)
        ]
        return ClipEstimate(Frames(frames, kept), quantity, said)

    def _done(self) -> dict[str, Any]:
        """Runs the program to its end, and returns what is known about that."""
        command = self._command()
        ended = self._run(command)
        said = {
            "command": shlex.join(command),
            "exit_code": ended.exit_code,
            "stderr": _tail(self.folder / "stderr"),
            "stdout": _tail(self.folder / "stdout"),
            "usage": ended.usage,
        }
        if why := self._why_failed(ended, said):
            raise self._failed(why, said)
        return said

    def _command(self) -> list[str]:
        template, given = self.options.template, self.folder / "in"
        given.mkdir()
        self._out.parent.mkdir()
        used = template_text.placeholders(template)
        places = {"out": str(self._out), "out_dir": str(self._out.parent)}
        values = {
            name: places[name]
            if name in places
            else template_text.fill_in(name, self.inputs, given)
            for name in sorted(used)
        }
        return [template_text.filled(part, values) for part in template_text.arguments(template)]

    @property
    def _out(self) -> Path:
        return self.folder / "out" / f"{self.inputs['quantity']}.{self.options.out_suffix}"

    def _run(self, command: list[str]) -> ProcessExit:
        where, limit_s = self.options.folder, self.options.time_limit_s
        try:
            return run(command, where, limit_s, self.folder / "stdout", self.folder / "stderr")
        except (OSError, ValueError) as error:  # ValueError: a NUL character in an argument
            raise MethodFailed(
                f"the program '{command[0]}' cannot be started in {where.absolute()}: "
                f"{getattr(error, 'strerror', None) or error}"
            ) from error

    def _why_failed(self, ended: ProcessExit, said: Mapping[str, Any]) -> str:
        if ended.too_long:
            limit = f"{self.options.time_limit_s:g} s"
            return f"ran longer than its time limit of {limit} and was ended; {_MORE_TIME}"
        if ended.exit_code == 0:
            return ""
        last = _last_line(said["stderr"]) or _last_line(said["stdout"]) or "it said nothing"
        return f"{_ending(ended.exit_code)}: {last}"

    def _read(self, said: Mapping[str, Any]) -> Map:
        path = self._written()
        if path is None:
            raise self._failed(f"ended well but wrote no {self._out.name} at {{out}}", said)
        return self._read_file(path, said)

    def _read_file(self, path: Path, said: Mapping[str, Any]) -> Map:
        try:
            return io.read_map(path, quantity=self.inputs["quantity"])
        except UnknownScale as error:
            why = f"wrote whole numbers of {error.quantity} to {path.name}, whose unit nobody says"
            raise self._failed(f"{why}; write metres as .npy or .pfm", said) from error
        except BadFile as error:
            why = str(error).removeprefix(f"{path}: ")
            raise self._failed(f"wrote {path.name}, which cannot be used: {why}", said) from error

    def _written(self) -> Path | None:
        """{out}; for a program that is only given the folder, the one file that it wrote there."""
        if self._out.exists():
            return self._out
        if "out_dir" not in template_text.placeholders(self.options.template):
            return None
        found = sorted(path for path in self._out.parent.rglob("*") if path.is_file())
        return found[0] if len(found) == 1 else None

    def _failed(self, why: str, said: Mapping[str, Any]) -> MethodFailed:
        details = "\n".join(
            f"{name}: {said[name]}" for name in ("command", "exit_code", "stderr", "stdout")
        )
        # Its private folder has a different name each time, but the reason should be the same.
        why = why.replace(f"{self.folder}/", "").replace(str(self.folder), "its folder")
        return MethodFailed(f"the program '{self.options.short_name()}' {why}", details)


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


def _tail(path: Path) -> str:
    """The end of the output, with any bytes."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 4 * _KEPT_CHARACTERS))
        return file.read().decode(errors="replace")[-_KEPT_CHARACTERS:]


def _last_line(text: str) -> str:
    """The last line that is not empty, printable within a sentence."""
    lines = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][-_LONGEST_LINE:] if said else ""
