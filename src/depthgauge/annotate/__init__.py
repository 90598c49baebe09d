"""From what a person draws on one photograph to dense normals, depth and a mesh."""
