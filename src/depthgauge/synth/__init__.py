"""Generated data with exact truth."""
