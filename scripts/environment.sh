# Sourced by the other scripts: makes or mends the virtual environment.  Needs Python 3.10+ with venv and pip.
#   environment EXTRAS    EXTRAS: names of the package's extras, such as "dev" or "draw,train"
# A stamp inside the environment says what it was installed from.  It is written last, so an interrupted installation is
# done again, and a lock keeps two runs from installing at once.

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
venv=${PERIN_VENV:-$here/.venv}

environment() {
    local extras=$1 stamp=$venv/.installed-$1 wanted
    wanted="$(cd -- "$here" && cat pyproject.toml constraints.txt hatch_build.py src/perin/native/*.[ch] | cksum) $here"
    if installed; then return; fi
    mkdir -p -- "$(dirname -- "$venv")"
    exec 9>"$venv.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if ! installed; then
        echo "perin: setting up $venv (once; it takes a minute or two)" >&2
        "$venv/bin/python" -m pip --version >/dev/null 2>&1 || new_venv
        "$venv/bin/python" -m pip install -qq --disable-pip-version-check --constraint "$here/constraints.txt" \
            --editable "$here[$extras]" >&2 ||
            { echo "perin: the installation failed; the lines above say why" >&2; exit 2; }
        printf '%s' "$wanted" >"$stamp"
    fi
    exec 9>&-
}

installed() {
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && [ -x "$venv/bin/python" ]
}

new_venv() {
    local python=${PYTHON:-python3}
    command -v "$python" >/dev/null ||
        { echo "perin: no $python found; install Python 3.10 or newer, or set PYTHON" >&2; exit 2; }
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        { echo "perin: $("$python" --version) is too old; set PYTHON to a Python 3.10 or newer" >&2; exit 2; }
    rm -rf -- "$venv"
    "$python" -m venv "$venv" || { echo "perin: can't make a virtual environment; is the venv module installed?" >&2; exit 2; }
}
