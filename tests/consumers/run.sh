#!/usr/bin/env bash
# run.sh <consumer> <source folder> <build folder>: installs the build into a prefix in the build folder
# (but not for add_subdirectory), builds the consumer project against it, runs its programs and compares
# their output.
set -euo pipefail
consumer=$1
source=$2
build=$3

expected="tensor([3., 3., 3.])"
here=$source/tests/consumers/$consumer
work=$build/consumers/$consumer
prefix=$build/consumers/prefix_$consumer

install_hearth() {
  cmake --install "$build" --prefix "$prefix" >/dev/null
}

build_with_cmake() {
  cmake -S "$here" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
  cmake --build "$work"
}

rm -rf "$work" "$prefix"
mkdir -p "$work"
case $consumer in
  find_package)
    install_hearth
    build_with_cmake -DCMAKE_PREFIX_PATH="$prefix"
    ;;
  torch_dir)
    install_hearth
    build_with_cmake -DTorch_DIR="$prefix/share/hearth/torch"
    ;;
  add_subdirectory)
    # With the same folder depth and flags as the main build, the compiler cache has every object.
    work=$(dirname "$build")/consumer_add_subdirectory
    rm -rf "$work"
    mapfile -t same_flags < <(sed -nE 's/^((CMAKE_CXX_FLAGS_RELEASE|HEARTH_WERROR):.*)/-D\1/p' \
                              "$build/CMakeCache.txt")
    build_with_cmake -DHEARTH_SOURCE_DIR="$source" -DHEARTH_CUDA=OFF "${same_flags[@]}"
    ;;
  pkg_config)
    install_hearth
    libdir=$(dirname "$(find "$prefix" -name libhearth.so)")
    for module in hearth hearth-torch; do
      stated_libdir=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --variable=libdir $module)
      if [[ ! $stated_libdir -ef $libdir ]]; then
        echo "$module.pc says libdir='$stated_libdir', not '$libdir'" >&2
        exit 1
      fi
    done
    PKG_CONFIG_PATH=$libdir/pkgconfig make -C "$work" -f "$here/Makefile" VPATH="$here"
    export LD_LIBRARY_PATH=$libdir
    ;;
  *)
    echo "run.sh: no consumer '$consumer'" >&2
    exit 1
    ;;
esac

for program in "$work"/*consumer; do
  printed=$("$program")
  if [[ $printed != "$expected" ]]; then
    echo "$program printed '$printed', not '$expected'" >&2
    exit 1
  fi
done
