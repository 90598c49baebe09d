"""The sections of the HTML page, one module each."""
