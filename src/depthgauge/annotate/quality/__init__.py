"""How good annotations are: problems to fix, agreement between people, statistics."""
