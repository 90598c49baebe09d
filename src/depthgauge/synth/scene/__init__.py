"""The scene model: meshes, shapes, materials, lights, cameras and motion."""
