"""Submissions: from an upload to released scores."""
