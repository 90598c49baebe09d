"""Mail: what is to be sent waits in the database, and a process of its own sends it."""
