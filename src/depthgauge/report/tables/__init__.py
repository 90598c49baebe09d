"""Tables: text, Markdown, CSV and LaTeX."""
