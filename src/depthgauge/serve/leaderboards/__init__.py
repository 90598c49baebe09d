"""Leaderboards: what readers choose to see of released values, as pages, files and citations."""
