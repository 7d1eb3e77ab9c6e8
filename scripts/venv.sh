# Sourced by demo.sh and test.sh: `set_up EXTRA` makes .venv and installs this package with that extra, once.
# shellcheck shell=bash

# Else each process compiles the modules that it imports again.
export PYTHONDONTWRITEBYTECODE=

pip_setting() { # pip_setting NAME: pip's setting whose name begins with NAME, of its environment or files
    local name=$1 line value=
    while IFS= read -r line; do
        if [[ $line == *".$name"*"='"* ]]; then
            value=${line#*=\'}
            value=${value%\'}
            break # pip lists the environment first, and the environment has the last word
        fi
    done <<<"$pip_settings"
    echo "${value//\\n/ }"
}

install() { # install REQUIREMENTS ...: uv installs them, three times faster than pip; if uv fails, pip does
    local pip=.venv/bin/pip uv=.venv/bin/uv pip_settings spaced
    [[ -x $uv ]] || "$pip" install --quiet --quiet --no-compile --disable-pip-version-check uv || true
    if [[ -x $uv ]]; then
        pip_settings=$("$pip" config list) # uv does not read them
        spaced=$(pip_setting find-links)
        if UV_DEFAULT_INDEX=$(pip_setting index) UV_INDEX=$(pip_setting extra-index) \
            UV_FIND_LINKS=${spaced// /,} UV_CONSTRAINT=$(pip_setting constraint) SSL_CERT_FILE=$(pip_setting cert) \
            UV_INDEX_STRATEGY=unsafe-best-match "$uv" pip install --quiet --python .venv/bin/python "$@"; then
            return
        fi
        echo "uv could not install this; pip tries" >&2
    fi
    # Python compiles a module when it is first imported, and few of these modules ever are.
    "$pip" install --quiet --quiet --no-compile --disable-pip-version-check "$@"
}

set_up() { # set_up EXTRAS ...: one installation for those that are missing, for example set_up test ros,rostest
    local python=${PYTHON:-python3} wanted extras missing=()
    wanted=$(cat setup.py pyproject.toml | sha256sum)
    for extras; do
        if [[ ! -f .venv/.installed-$extras || $(<".venv/.installed-$extras") != "$wanted" ]]; then
            missing+=("$extras")
        fi
    done
    if ((${#missing[@]} == 0)); then
        return
    fi
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        echo "warpdyn needs Python 3.10 or later: install python3, or name another one, PYTHON=python3.11 $0" >&2
        return 1
    fi
    if [[ ! -x .venv/bin/pip ]]; then
        if ! "$python" -c 'import ensurepip' 2>/dev/null; then
            echo "$python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2
            return 1
        fi
        "$python" -m venv .venv
    fi
    extras=$(IFS=,; echo "${missing[*]}")
    echo "installing warpdyn[$extras] into .venv ..."
    install --editable ".[$extras]"
    for extras in "${missing[@]}"; do echo "$wanted" >".venv/.installed-$extras"; done
}
