"""From a scene to exact geometry and pictures."""
