"""Which protocol gives a published number, and how ranks depend on the protocol."""
