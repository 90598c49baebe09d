"""Disparities as matches: right, wrong, lost, or made up."""
