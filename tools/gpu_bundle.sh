#!/usr/bin/env bash
# Fetches the Debian packages that the build needs into .bundle/ (not tracked, at most 55 MiB), so that
# tools/gpu_check.sh can build on a machine with a GPU but without a network.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly limit_mib=55

# A -dev package and the libraries behind its links, under whatever versioned name this release has them.
with_libraries() {
  echo "$1"
  apt-cache depends "$1" | sed -n 's/^ *Depends: \(lib[a-z-]*[0-9][a-z0-9.-]*\)$/\1/p'
}

packages=(
  $(with_libraries libdnnl-dev) ocl-icd-libopencl1        # oneDNN, and the OpenCL loader it is linked to
  libopenblas-openmp-dev libopenblas0-openmp libgfortran5 libquadmath0
  libgtest-dev googletest
)

mkdir -p .bundle
rm -f .bundle/*.deb
(cd .bundle && apt-get download -q "${packages[@]}")
size_mib=$(du -sm .bundle | cut -f1)
echo "gpu_bundle: ${#packages[@]} packages, $size_mib MiB in .bundle"
if ((size_mib > limit_mib)); then
  echo "gpu_bundle: more than the $limit_mib MiB that may travel" >&2
  exit 1
fi
