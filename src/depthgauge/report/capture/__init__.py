"""Pictures of what the steps of a capture session made, one module a step, and their page."""
