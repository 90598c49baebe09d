"""Programs that write parts of the documentation: generated pages, pictures, evidence."""
