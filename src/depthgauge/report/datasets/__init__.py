"""Pictures of what a dataset contains."""
