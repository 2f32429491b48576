#!/usr/bin/env bash
# Makes small mistakes in a copy of the sources, one at a time (tools/mutants.txt), and fails unless
# a test notices each:
#
#   tools/mutants.sh                   all of them
#   tools/mutants.sh pool 'one name'   those whose name or file contains a word
#
# The copy and its build are build/mutants; this folder is never changed. Needs some minutes for the
# first build and about half a minute for each mistake.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
copy=$here/build/mutants/tree
build=$here/build/mutants/build
mkdir -p "$copy"

# Only what differs, so that the build stays as it is; that restores a mistake left by an
# interruption too.
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ -f "$file" ] || { rm -f "$copy/$file"; continue; }
  cmp -s "$file" "$copy/$file" && continue
  mkdir -p "$copy/$(dirname "$file")"
  cp "$file" "$copy/$file"
done

(cd "$copy" && cmake --preset release -B "$build" -DHEARTH_CUDA=OFF -DHEARTH_AVX512=OFF \
  -DHEARTH_BUILD_APP=OFF -DHEARTH_BUILD_EXAMPLES=OFF -DHEARTH_BUILD_BENCH=OFF \
  "-DHEARTH_TEST_FOLDERS=ops;kernels;autograd" > /dev/null)
python3 tools/mutants.py "$copy" "$build" "$@"
