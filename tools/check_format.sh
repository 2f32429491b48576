#!/usr/bin/env bash
# Lists the C++ and CUDA files that clang-format would change; with --fix, changes them.
set -euo pipefail
cd "$(dirname "$0")/.."

# Other versions format differently.
wanted=14
formatter=$(command -v clang-format-$wanted || command -v clang-format || true)
if [[ -z $formatter ]] || ! "$formatter" --version | grep -q " version $wanted\."; then
  echo "check_format: skipped, clang-format $wanted is not installed"
  exit 0
fi
export formatter

for_each_file() {
  git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' '*.inc' |
    xargs -0 -r -n 1 -P "$(nproc)" bash -c "[[ ! -f \$0 ]] || $1"
}

if [[ ${1:-} == --fix ]]; then
  for_each_file '"$formatter" -i "$0"'
  exit 0
fi
changed=$(for_each_file '"$formatter" --dry-run --Werror "$0" 2>/dev/null || echo "$0"')
if [[ -n $changed ]]; then
  echo "check_format: 'make format' would change"$'\n'"$changed" >&2
  exit 1
fi
echo "check_format: ok"
