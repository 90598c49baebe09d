"""Engines that bring a measured map to full size: one module each."""
