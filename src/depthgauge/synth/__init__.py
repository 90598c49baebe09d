"""Made data with exact truth."""
