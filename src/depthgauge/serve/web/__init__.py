"""The web process: pages that need no JavaScript, and the same as JSON."""
