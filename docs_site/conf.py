"""Sphinx settings for the site that `bash scripts/docs.sh` builds from docs/."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # this checkout instead of an installed package

import warpdyn  # noqa: E402

project = "warpdyn"
author = "The warpdyn developers"
project_copyright = author
version = release = warpdyn.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",  # [source] links of all entries, and pages of the files
    "sphinx_copybutton",
    "docs_site.extension",
]
exclude_patterns = ["**/.ipynb_checkpoints"]
root_doc = "index"

# Docstrings are prose with `code` (docs_site/docstrings.py). napoleon would read "q: (B, nq)" as a type.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88

myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_render_markdown_format = "myst"  # so that tables in it are rendered
nb_output_stderr = "remove"  # messages on compilation, and Warp's message on a missing driver
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"warpdyn {version}"
html_favicon = "static/favicon.svg"
html_static_path = ["static", "../examples/export/web.js"]
html_css_files = ["site.css"]
html_js_files = ["tables.js", "recordings.js", "web.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_domain_indices = False
html_show_sphinx = False

# Run by a separate command, because CI has no network: bash scripts/docs.sh --links
linkcheck_timeout = 20
linkcheck_workers = 4
linkcheck_anchors = False
