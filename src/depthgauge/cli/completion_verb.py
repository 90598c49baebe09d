"""`depthgauge completion`: the script with which a shell completes verbs, options and names."""

from __future__ import annotations

import click

_HOW = {
    "bash": 'eval "$(depthgauge completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(depthgauge completion zsh)"   in ~/.zshrc',
    "fish": "depthgauge completion fish | source   in ~/.config/fish/config.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_HOW)))
def command(shell: str) -> None:
    """Prints the shell script that completes verbs, options, benchmarks and methods.

    \b
      bash: eval "$(depthgauge completion bash)"            in ~/.bashrc
      zsh:  eval "$(depthgauge completion zsh)"             in ~/.zshrc
      fish: depthgauge completion fish | source             in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from depthgauge.cli import depthgauge

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"there is no completion for {shell}.")
    click.echo(found(depthgauge, {}, "depthgauge", "_DEPTHGAUGE_COMPLETE").source())
