"""`depthgauge annotate`: from drawings on a photograph to normals, depth and agreement."""

from __future__ import annotations

import click

from depthgauge.cli import _annotate_quality, _annotate_records, _annotate_scores


class _InOrder(click.Group):
    """Lists its commands in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("annotate", cls=_InOrder)
def command() -> None:
    """From what people draw on photographs to surfaces, datasets and numbers.

    Records are files of JSON lines, one per photograph and person: the region, occlusions and folds
    as lines, planar or curved surfaces, normals, relations between planes, the focal length.
    Nothing in them is ever rewritten.

    \b
      depthgauge annotate simulate mixed --out study
      depthgauge annotate check study
      depthgauge annotate reconstruct study/records/simulated-1/mixed-0000.jsonl --out new
      depthgauge annotate agreement study
    """


for _command in (
    *_annotate_records.COMMANDS,
    *_annotate_quality.COMMANDS,
    *_annotate_scores.COMMANDS,
):
    command.add_command(_command)
