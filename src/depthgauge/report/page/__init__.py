"""The HTML page of a run: what it shows, how it is built, and how it is written."""
