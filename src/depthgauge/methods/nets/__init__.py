"""Networks of our own, with their weights."""
