"""From an annotation to surfaces, normals, depth, a mesh and samples of a dataset."""
