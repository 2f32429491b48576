#!/usr/bin/env bash
# install_deps.sh [program|train|docs|package]: installs the Debian or Ubuntu packages that are
# missing for building and testing (without an argument), for the library and the program, for
# `make train`, for `make docs` or for `make deb`. Prints the commands first. On a terminal it asks;
# without one it installs only if it runs as root. HEARTH_INSTALL_PACKAGES=yes installs without
# asking, =no never installs.
set -euo pipefail

program=(
  build-essential cmake ninja-build ccache pkg-config   # build
  libdnnl-dev libopenblas-dev                           # libraries of the core
  nlohmann-json3-dev zlib1g-dev                         # files: safetensors' JSON, gzip
  libpng-dev libjpeg-dev                                # files: images
  libcli11-dev libtomlplusplus-dev libcairo2-dev        # the program hearth
  libgloo-dev                                           # the Gloo plugin: several processes
)
tests=(
  libgtest-dev                                          # tests
  clang-format python3                                  # checks
)
case ${1:-} in
  "") packages=("${program[@]}" "${tests[@]}") ;;
  program) packages=("${program[@]}") ;;
  train) packages=("${program[@]}" dataset-fashion-mnist) ;;
  docs) packages=(doxygen python3) ;;
  package) packages=("${program[@]}" dpkg-dev file) ;;
  *) echo "usage: install_deps.sh [program|train|docs|package]" >&2; exit 2 ;;
esac

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

if ! command -v apt-get >/dev/null; then
  echo "install_deps: not a Debian system; install the equivalents of these packages: ${packages[*]}" >&2
  exit 0
fi
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo)
install=("${as_root[@]}" apt-get install --no-install-recommends "${missing[@]}")
echo "These packages are missing: ${missing[*]}"
echo "These commands install them:"
echo "    ${as_root[*]:+${as_root[*]} }apt-get update"
echo "    ${install[*]}"

stop() {
  echo "Nothing was installed. Run the commands above, then start again." >&2
  exit 1
}

case ${HEARTH_INSTALL_PACKAGES:-} in
  yes) ;;
  no) stop ;;
  "")
    if [[ -t 0 && -t 1 ]]; then
      read -r -p "Run them now? [Y/n] " answer || stop
      [[ ${answer,,} =~ ^(y|yes|)$ ]] || stop
    elif [[ $EUID -ne 0 ]]; then
      stop
    fi
    ;;
  *)
    echo "install_deps: HEARTH_INSTALL_PACKAGES must be yes or no, not '$HEARTH_INSTALL_PACKAGES'" >&2
    exit 2
    ;;
esac
if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
  echo "There is no sudo: run the commands as root." >&2
  stop
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q --yes --no-install-recommends "${missing[@]}"
