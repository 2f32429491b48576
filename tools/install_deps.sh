#!/usr/bin/env bash
# Installs what the build needs on Debian or Ubuntu; says what, and nothing when all is there.
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache pkg-config   # build
  libdnnl-dev libopenblas-dev                           # libraries of the core
  nlohmann-json3-dev zlib1g-dev                         # files: safetensors' JSON, gzip
  libcli11-dev libtomlplusplus-dev libpng-dev           # the program hearth
  libgtest-dev libbenchmark-dev                         # tests and benchmarks
  clang-format python3                                  # checks
)

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
