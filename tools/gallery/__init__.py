"""A gallery of the front end's islands with made data, for development and tests.

`python -m tools.gallery` serves it at http://127.0.0.1:8010 under the site's content security
policy. Pages are in `web/gallery/`; what they show is written by the functions that the site uses.
"""
