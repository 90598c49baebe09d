"""Pictures: maps and photographs as encoded images with a legend."""
