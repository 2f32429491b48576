#!/usr/bin/env bash
# Mutation testing: applies the small mistakes of tools/mutants/ to a copy of the sources, one at a
# time, and fails unless a test catches each:
#
#   tools/mutants.sh                   all mutants
#   tools/mutants.sh pool 'one name'   the mutants whose name or file contains an argument
#
# The copy and its build are in build/mutants; the sources themselves are never changed. The first
# build takes some minutes, and each mutant about half a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
copy=$here/build/mutants/tree
build=$here/build/mutants/build
mkdir -p "$copy"

# Copies only files that differ, so that the build stays up to date. That also reverts a mutant left by
# an interrupted run. Files that the sources no longer have are removed.
sources=$(git -c core.quotePath=off ls-files --cached --others --exclude-standard | while IFS= read -r file; do
  [ ! -f "$file" ] || echo "$file"
done | sort)
while IFS= read -r file; do
  cmp -s "$file" "$copy/$file" && continue
  mkdir -p "$copy/$(dirname "$file")"
  cp "$file" "$copy/$file"
done <<< "$sources"
(cd "$copy" && find . -type f -printf '%P\n' | sort | comm -23 - <(echo "$sources") | xargs -r -d '\n' rm)

folders=$(basename -a tools/mutants/*.txt | cut -d . -f 1 | sort -u | paste -sd ';')
(cd "$copy" && cmake --preset release -B "$build" -DHEARTH_BUILD_EXAMPLES=OFF -DHEARTH_BUILD_BENCH=OFF \
  "-DHEARTH_TEST_FOLDERS=$folders" > /dev/null)
python3 tools/mutants.py "$copy" "$build" "$@"
