"""`depthgauge capture`: from a session's photographs to disparity maps with a stated error."""

from __future__ import annotations

import click

from depthgauge.cli import _capture_more, _capture_steps


class _InOrder(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("capture", cls=_InOrder)
def command() -> None:
    """From a rig's photographs to ground truth, step by step.

    A session is a folder with photographs of a board, of a scene, and of the painted scene under
    projected patterns. Each step writes a folder in SESSION/work and is skipped when nothing that
    it depends on has changed.

    \b
      depthgauge make capture-session --out kitchen
      depthgauge capture run kitchen
      depthgauge capture export kitchen --out Booster
    """


for _command in (*_capture_more.COMMANDS, *_capture_steps.COMMANDS):
    command.add_command(_command)
