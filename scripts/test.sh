#!/usr/bin/env bash
# Lint, types and tests: bash scripts/test.sh [--no-apt] [--quick | pytest arguments]
# It installs the test extra into .venv. Without arguments it also installs Debian packages if it is allowed to
# (debian_packages.sh). `--no-apt`, as the first argument, prevents that.
# All tests include the quick half of those on an emulated CUDA device (test_cuda.sh).
# `--quick` runs lint and the most informative tests of every room (tests/quick.py). With other arguments only pytest
# runs, with these arguments.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
apt=yes
if [[ ${1-} == --no-apt ]]; then
    apt=no
    shift
fi
running=()
wait_for_all() { # processes in the background; this script ends where one of them failed
    local process
    for process in "${running[@]}"; do wait "$process"; done
}
prepare_compiler() { # Debian's packages, then the C++ files of the emulated CUDA device
    [[ $apt == no ]] || bash scripts/debian_packages.sh
    ! command -v "${CXX:-g++}" >/dev/null || nice "${PYTHON:-python3}" tests/cuda_device/emulated_warp.py --objects
}
if (($# == 0)); then
    prepare_compiler & # beside the installation of Python's packages
    running+=($!)
fi
source scripts/venv.sh
if [[ -f scripts/ros_env.sh ]]; then
    set_up test ros,rostest
    # Generates messages, beside lint and mypy. mypy takes longest, on one core, and comes first.
    nice bash scripts/ros_env.sh &
    running+=($!)
else
    set_up test
fi
export PATH="$PWD/.venv/bin:$PATH"

if [[ $* == --quick ]]; then
    ruff check .
    ruff format --check .
    python scripts/prose.py
    python scripts/code_shape.py
    wait_for_all
    exec pytest -n 2 --quick --ignore tests/ros
fi
if (($#)); then
    wait_for_all
    exec pytest "$@"
fi

python scripts/robot_stub.py # mypy reads it
mypy &
running+=($!)
python tests/cuda_device/emulated_warp.py >/dev/null & # links it for test_cuda.sh
running+=($!)
ruff check .
ruff format --check .
python scripts/prose.py
python scripts/code_shape.py
wait_for_all
# Many tests wait for other processes, so three workers keep two cores busy.
pytest -n 3 --ignore tests/ros --ignore tests/cuda_device
bash scripts/test_cuda.sh --quick # on an emulated CUDA device; it runs tests/cuda_device too
if compgen -G "tests/ros/test_*.py" >/dev/null; then
    # Each worker runs whole files in a ROS domain of its own. These tests wait most of the time.
    pytest -n 4 --dist loadfile --no-loadscope-reorder tests/ros
fi
