"""What brings a measured map to the full size: one module per engine."""
