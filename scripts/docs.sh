#!/usr/bin/env bash
# Builds the site from docs/: bash scripts/docs.sh [--links]
# It installs the docs extra into .venv, checks spelling, and builds docs/ into build/site/html. The build runs the
# notebooks. A warning is an error. With `--links` it builds no site: it only checks the links to other sites.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/venv.sh
set_up docs
export PATH="$PWD/.venv/bin:$PATH" PYTHONPATH="$PWD"

sphinx() { # builder, folder
    sphinx-build --jobs 2 --fail-on-warning --keep-going --quiet -c docs_site -d build/site/doctrees -b "$1" docs "build/site/$2"
}
if [[ ${1-} == --links ]]; then
    sphinx linkcheck links
    exit
fi
codespell README.md CHANGELOG.md CONTRIBUTING.md docs docs_site warpdyn ros2_node examples benchmarks
sphinx html html
python -m docs_site.recordings build/site/html/_static/recordings
echo "build/site/html/index.html; with recordings: python -m http.server -d build/site/html -b 127.0.0.1"
