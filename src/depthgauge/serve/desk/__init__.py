"""Pages for one person, without accounts: drawing on the photographs of a folder."""
