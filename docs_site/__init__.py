"""How docs/ becomes a site: what Sphinx's pages need of the library itself, and nothing else."""
