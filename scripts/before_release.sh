#!/usr/bin/env bash
# Checks before a release, which take hours. Run them by hand: bash scripts/before_release.sh [SEED]
# They are the slow tests, all device tests on an emulated CUDA device, random inputs compared with peers, mutation
# testing, the source distribution, and aarch64 under qemu. Another SEED draws other cases. Each step prints its own
# figures. The script continues after a failure and lists the failed steps at the end.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
seed=${1:-0}
export PATH="$PWD/.venv/bin:$PATH" PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
failed=()

step() {
    echo "== $*"
    "$@" || failed+=("$*")
}

step bash scripts/test.sh
step bash scripts/test_cuda.sh
step pytest -n 2 --slow -m slow --ignore tests/ros
step pytest --slow tests/ros/test_frozen.py
step python -m benchmarks.fuzzing files 100000 --seed "$seed"
step python -m benchmarks.fuzzing mjcf 20000 --seed "$seed"
step python -m benchmarks.fuzzing simulations 10000 --seed "$seed"
step python -m benchmarks.fuzzing expressions 20000 --seed "$seed"
step python -m benchmarks.fuzzing calls 100000 --seed "$seed"
step python scripts/mutate.py --count 300 --seed "$seed" --least 0.97
step bash scripts/test_sdist.sh
step bash scripts/test_arm.sh

if ((${#failed[@]})); then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
