#!/usr/bin/env bash
# Checks the library on aarch64 (Jetson, Raspberry Pi) under qemu: bash scripts/test_arm.sh [--out FILE.json]
# Run it by hand before a release. CI does not run it, because qemu takes about ten minutes. The script makes an arm64
# root folder from Debian packages and aarch64 wheels in build/arm (1 GB), without root and without installing anything.
# It runs scripts/arm_checks.py there and on this machine: five algorithms, `bind`, a user's kernel, simulations without
# and with contacts, and the control loop of the ROS 2 node without DDS. Then it compiles an exported header for aarch64.
# It writes the results to FILE (benchmarks/results/aarch64.json). KEEP_CACHE=1 keeps the kernels of an earlier run.
# It needs Debian's apt with arm64 packages in its sources, qemu-user, g++-aarch64-linux-gnu, libc6-dev-arm64-cross, and .venv.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=benchmarks/results/aarch64.json
case ${1-} in
    --out) out=${2:?--out needs a file} ;;
    "") ;;
    *) echo "usage: bash scripts/test_arm.sh [--out FILE.json]" >&2 && exit 2 ;;
esac
for tool in qemu-aarch64 aarch64-linux-gnu-g++ apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || {
        echo "$tool is missing; on Debian: apt-get install qemu-user g++-aarch64-linux-gnu libc6-dev-arm64-cross" >&2
        exit 1
    }
done
[[ -x .venv/bin/python ]] || { echo "there is no .venv: bash scripts/demo.sh --no-ros makes it" >&2 && exit 1; }

work=$PWD/build/arm
root=$work/root site=$work/site
mkdir -p "$work"/apt/lists/partial "$work"/apt/archives/partial "$work/run"

# Python and what it needs, for arm64. apt resolves the dependencies, as if nothing were installed, with lists of its own.
if [[ ! -x $root/usr/bin/python3 ]]; then
    echo "fetching Debian packages for arm64 ..."
    : >"$work/apt/status"
    cat >"$work/apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$work/apt";
Dir::State::Lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Cache::archives "$work/apt/archives";
CONF
    APT_CONFIG=$work/apt/apt.conf apt-get update -qq || true # sources without arm64 do not matter
    APT_CONFIG=$work/apt/apt.conf apt-get install -qq -y --download-only python3 libstdc++6
    for package in "$work"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
fi
version=$(readlink "$root/usr/bin/python3")
version=${version#python}

# The wheels of aarch64. urdf-parser-py has no wheel, and is Python alone.
if [[ ! -f $site/.complete ]]; then
    echo "fetching wheels for aarch64 and Python $version ..."
    rm -rf "$site"
    platforms=()
    for glibc in 2_34 2_28 2_17; do
        platforms+=(--platform "manylinux_${glibc}_aarch64")
    done
    .venv/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: "${platforms[@]}" --implementation cp \
        --python-version "$version" --target "$site" "warp-lang>=1.19,<1.20" "numpy>=1.26" "lxml>=5" tqdm rich pyyaml typing_extensions
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --target "$site" "urdf-parser-py>=0.0.4"
    touch "$site/.complete"
fi

# Python under qemu. sys.executable is this file, so that a process that Python starts runs under qemu too.
cat >"$work/python" <<RUN
#!/bin/sh
exec qemu-aarch64 -L "$root" -0 "$work/python" "$root/usr/bin/python3" "\$@"
RUN
chmod +x "$work/python"

checks() { # arguments of arm_checks.py, on this machine
    PYTHONPATH=$PWD .venv/bin/python scripts/arm_checks.py "$@"
}
echo "computing here ..."
checks numbers "$work/run"
echo "computing on aarch64, with empty caches ..."
[[ -n ${KEEP_CACHE-} ]] || rm -rf "$work/cache"
PYTHONHOME=$root/usr PYTHONPATH=$site:$PWD WARPDYN_CACHE_DIR=$work/cache/warpdyn WARP_CACHE_PATH=$work/cache/warp \
    "$work/python" scripts/arm_checks.py numbers "$work/run"

echo "compiling an exported header for aarch64 ..."
PYTHONPATH=$PWD .venv/bin/python -m warpdyn export ur5e rnea --force --out "$work/run/ur5e.hpp"
checks program "$work/run"
aarch64-linux-gnu-g++ -std=c++17 -O2 -Wall -Wextra -Wpedantic -Werror -o "$work/run/exported" "$work/run/exported.cpp"
qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/run/exported" >"$work/run/exported.txt"
{
    qemu-aarch64 --version | head -n 1
    aarch64-linux-gnu-g++ --version | head -n 1
} >"$work/run/tools.txt"
checks record "$work/run" "$out"
