#!/usr/bin/env bash
# install_deps.sh [train]: installs what building and testing needs on Debian or Ubuntu, or what
# `make train` needs; says what, and nothing when all is there.
set -euo pipefail

program=(
  build-essential cmake ninja-build ccache pkg-config   # build
  libdnnl-dev libopenblas-dev                           # libraries of the core
  nlohmann-json3-dev zlib1g-dev                         # files: safetensors' JSON, gzip
  libcli11-dev libtomlplusplus-dev libcairo2-dev        # the program hearth
)
tests=(
  libgtest-dev libbenchmark-dev                         # tests and benchmarks
  clang-format python3                                  # checks
)
case ${1:-} in
  "") packages=("${program[@]}" "${tests[@]}") ;;
  train) packages=("${program[@]}" dataset-fashion-mnist) ;;
  *) echo "usage: install_deps.sh [train]" >&2; exit 2 ;;
esac

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

if ! command -v apt-get >/dev/null; then
  echo "install_deps: not a Debian system; the packages meant are: ${packages[*]}" >&2
  exit 0
fi
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  as_root=(sudo)
  if ! command -v sudo >/dev/null; then
    echo "install_deps: as root, please: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
echo "install_deps: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q --yes --no-install-recommends "${missing[@]}"
