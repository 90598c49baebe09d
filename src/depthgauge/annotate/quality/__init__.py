"""How good annotations are: problems to fix, agreement of people, statistics."""
