"""Training: losses, checkpoints, the loop, and the command."""
