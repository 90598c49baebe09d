"""Motion: scene flow, and maps that change in time."""
