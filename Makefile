# Thin: everything is in CMakePresets.json and tools/.
.DEFAULT_GOAL := help
.PHONY: help train test test-all sanitize check bench install format clean deps

PREFIX ?= /usr/local

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

deps:
	@tools/install_deps.sh

train:  ## train the tutorials' network on Fashion-MNIST, on a GPU if there is one
	@tools/install_deps.sh train
	cmake --preset train -DHEARTH_CUDA=$(if $(shell nvidia-smi -L 2>/dev/null | grep '^GPU '),AUTO,OFF)
	cmake --build --preset train
	build/train/hearth train

test: deps  ## build with optimisation and run every test
	cmake --preset release
	cmake --build --preset release
	ctest --preset release

test-all: deps  ## what `make test` leaves out because it is slow (docs: CONTRIBUTING.md)
	cmake --preset all
	cmake --build --preset all
	ctest --preset all
	tools/check_headers.py --all
	tools/check_kernel_objects.sh build/all
	tools/test_with_libtorch.sh build/all

sanitize: deps  ## run the tests under the address, undefined-behaviour and thread sanitizers
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan
	cmake --preset tsan
	cmake --build --preset tsan
	ctest --preset tsan

check: deps  ## check format, layers, names, headers, kernel objects and exported symbols
	tools/check_format.sh
	tools/check_layers.py
	tools/check_names.py
	tools/check_headers.py
	cmake --preset release
	cmake --build --preset release --target hearth
	tools/check_kernel_objects.sh build/release
	tools/check_symbols.sh build/release/libhearth.so

bench: deps  ## build and run the benchmarks
	cmake --preset bench
	cmake --build --preset bench --target bench
	for program in build/bench/bench_*; do $$program || exit 1; done

install: deps  ## install under PREFIX (default /usr/local)
	cmake --preset dist
	cmake --build --preset dist
	cmake --install build/dist --prefix $(PREFIX)

format:  ## let clang-format rewrite the sources
	tools/check_format.sh --fix

clean:  ## remove everything that was built
	rm -rf build
