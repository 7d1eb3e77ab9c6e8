#!/usr/bin/env bash
# Tests on an emulated CUDA device: bash scripts/test_cuda.sh [--quick | pytest arguments]
# No GPU is needed, but g++ is. Without arguments all tests run that depend on the device (tests/device_tests.py), and
# those of the emulated device itself (tests/cuda_device). `--quick` runs the most informative ones.
# With other arguments pytest gets them, and the device is emulated.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/venv.sh
set_up test
export PATH="$PWD/.venv/bin:$PATH"

site=$(python tests/cuda_device/emulated_warp.py)
export PYTHONPATH="$site${PYTHONPATH:+:$PYTHONPATH}"

if (($#)) && [[ $* != --quick ]]; then
    exec pytest --device cuda:0 "$@"
fi
selection=all
if [[ $* == --quick ]]; then
    selection=quick
fi
mapfile -t folders < <(PYTHONPATH="tests:$PYTHONPATH" python tests/device_tests.py "$selection")
exec pytest -n 2 --device cuda:0 --device-tests "$selection" "${folders[@]}"
