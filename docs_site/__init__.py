"""Extension of Sphinx that builds the site from docs/ with pages from the library itself."""
