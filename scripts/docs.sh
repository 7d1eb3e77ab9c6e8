#!/usr/bin/env bash
# The documentation's site: bash scripts/docs.sh [--links]
# Installs into .venv with the docs extra, checks spelling, builds docs/ into build/site/html; a warning is an error.
# Notebooks run as they are built. With `--links` it builds nothing: it asks the network whether links to elsewhere lead somewhere.
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
