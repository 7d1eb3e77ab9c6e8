#!/usr/bin/env bash
# Tests the source distribution as a user gets it: bash scripts/test_sdist.sh [pytest arguments]
# It builds the sdist and the wheel (a warning is an error) and checks both with twine. Then it installs the unpacked
# sdist with its test extras in a temporary folder outside the checkout, and runs its tests (--quick, or the arguments)
# on the installed package. This takes about 10 minutes and 6 GB of disk. PYTHON=python3.12 selects another Python.
# KEEP=1 keeps the folder.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(command -v "${PYTHON:-python3}")
work=$(mktemp -d "${TMPDIR:-/tmp}/warpdyn-sdist.XXXXXX")
[[ -n ${KEEP-} ]] || trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONDONTWRITEBYTECODE # setuptools warns where it may not write bytecode
(($#)) || set -- --quick -n 2

echo "building in $work ..."
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check build twine
"$work/tools/bin/python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2 && exit 1; }
if grep -iE 'warning|deprecat' "$work/build.log" >&2; then
    echo "python -m build warns" >&2
    exit 1
fi
"$work/tools/bin/twine" check --strict "$work"/dist/*

tar -xzf "$work"/dist/*.tar.gz -C "$work"
mv "$work"/warpdyn-*/ "$work/unpacked"
"$python" -m venv "$work/venv"
# The pip of Python 3.10 looks for versions of the test extras for over ten minutes.
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --upgrade pip
echo "installing the sdist with its test extras ..."
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$work/unpacked[test,ros,rostest]"
bash scripts/ros_messages.sh "$work/venv"

# Tests import `benchmarks`, `docs_site` and `examples` as well, which are not installed, and must not find `warpdyn`
# next to them.
mkdir "$work/beside"
ln -s "$work/unpacked/benchmarks" "$work/unpacked/docs_site" "$work/unpacked/examples" "$work/beside"
cat >"$work/beside/installed_package.py" <<PLUGIN
import ros2_node, sysconfig, warpdyn
for package in (ros2_node, warpdyn):
    assert package.__file__.startswith(sysconfig.get_path("purelib")), package.__file__
PLUGIN
cd "$work/unpacked"
PATH=$work/venv/bin:$PATH PYTHONPATH=$work/beside "$work/venv/bin/pytest" -o pythonpath="tests tests/ros" \
    -p installed_package --ignore tests/ros "$@"
