"""Engines that match the two views of a scene under many projected patterns at once."""
