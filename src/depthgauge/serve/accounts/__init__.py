"""Accounts: passwords, sessions, tokens, links that work once, and limits on trying."""
