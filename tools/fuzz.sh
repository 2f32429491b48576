#!/usr/bin/env bash
# fuzz.sh [seconds [build folder]]: runs clang's libFuzzer on each reader of files (default: 600
# seconds each), with the address and undefined-behaviour sanitizers. Needs clang, and a build folder
# with the objects of the rest of the library.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
build=${2:-build/release}
work=$build/fuzz
mkdir -p "$work"

# The readers are compiled again below, instrumented; all other objects are taken as they are. An
# object may have several sources of a folder, so all sources of the readers' folders are compiled.
other_objects=($(find "$build"/CMakeFiles/hearth_*_objects.dir -name '*.o' ! -path '*/src/io/*' ! -path '*/src/data/*' \
  ! -path '*/src/vision/*'))
sources=(src/io/*.cpp src/data/*.cpp src/vision/*.cpp tests/io/fuzz_targets.cpp)
objects=()
for source in "${sources[@]}"; do
  object=$work/${source//\//_}.o
  clang++ -std=c++20 -g -O1 -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=undefined -Iinclude -Isrc -I. -c "$source" -o "$object"
  objects+=("$object")
done

# corpus_for <target> <folder>: writes the first inputs of a target into the folder.
corpus_for() {
  case $1 in
    fuzz_safetensors | fuzz_checkpoint) cp tests/fixtures/*.safetensors "$2" ;;
    fuzz_archive) cp tests/fixtures/*.safetensors tests/fixtures/pt/*.pt "$2" ;;
    fuzz_idx) cp tests/fixtures/*-idx.gz "$2" ;;
    fuzz_pt) cp tests/fixtures/pt/*.pt "$2" ;;
    fuzz_pickle)
      for file in tests/fixtures/pt/*.pt; do
        unzip -qp "$file" '*/data.pkl' >"$2/$(basename "$file" .pt).pkl" 2>/dev/null || true
      done
      ;;
    # The first byte chooses the options.
    fuzz_csv) printf '\007x,y\n1,2\n"3",NA\n' >"$2/small.csv" ;;
    fuzz_npy) cp tests/fixtures/pt/*.np[yz] "$2" ;;
    fuzz_image)
      cp tests/fixtures/*.jpg "$2"
      python3 - "$2/small.png" <<'END'
import struct, sys, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
rows = b"".join(b"\0" + bytes(range(9 * row, 9 * row + 9)) for row in range(4))
with open(sys.argv[1], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 4, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
      ;;
    fuzz_text) head -c 300 README.md >"$2/start.md" ;;  # short, because texts are slow
  esac
}

for target in $(sed -n 's/^int \(fuzz_[a-z]*\)(.*;/\1/p' tests/io/fuzz_targets.h); do
  printf '#include "tests/io/fuzz_targets.h"
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return %s(data, size);
}\n' "$target" >"$work/$target.cpp"
  clang++ -std=c++20 -fsanitize=fuzzer,address,undefined -I. "$work/$target.cpp" "${objects[@]}" \
    "${other_objects[@]}" -lz -ldnnl -lopenblas -lpng -ljpeg -ldl -o "$work/$target"
  mkdir -p "$work/corpus_$target"
  corpus_for "$target" "$work/corpus_$target"
  echo "fuzz: $target for $seconds s"
  "$work/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work/corpus_$target" 2>&1 | tail -n 12
done
