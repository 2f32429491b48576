#!/usr/bin/env bash
# check_kernel_objects.sh <build folder>: in the objects made for one SIMD target, every weak symbol
# must carry the target's name. The linker keeps one of several equal weak symbols, so an untagged
# one may bring AVX-512 code into the path of a processor that has none.
set -euo pipefail
build=$1
failed=0
count=0

while IFS= read -r object; do
  case $object in
    *_avx512.cpp.o) tag=Avx512 ;;
    *_avx2.cpp.o) tag=Avx2 ;;
    *) tag=Generic ;;
  esac
  count=$((count + 1))
  # Weak data counts too, for it may hold pointers to code; only type information is harmless.
  untagged=$(nm --defined-only --format=posix "$object" |
             awk -v tag="$tag" '$2 ~ /[WVu]/ && $1 !~ /^_ZT[IS]/ && $1 !~ tag {print $1}' | c++filt)
  if [[ -n $untagged ]]; then
    echo "check_kernel_objects: $object has weak symbols without the tag $tag:"$'\n'"$untagged" >&2
    failed=1
  fi
done < <(find "$build" -path '*/kernels/cpu/*' -regex '.*_\(avx2\|avx512\|generic\)\.cpp\.o')

[[ $failed == 0 ]] || exit 1
[[ $count -gt 0 ]] || { echo "check_kernel_objects: $build has no objects" >&2; exit 1; }
echo "check_kernel_objects: ok, $count objects"
