"""Verbs for those who compare and extend: explain, components, new, data."""
