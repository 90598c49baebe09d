"""Leaderboards: made from runs, with their notes, columns and tiers."""
