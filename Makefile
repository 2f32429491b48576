# Short names for commands; the settings are in CMakePresets.json, the scripts in tools/.
.DEFAULT_GOAL := help
.PHONY: help train test test-all sanitize sanitize-threads check bench docs install deb format clean deps

PREFIX ?= /usr/local

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

deps:
	@tools/install_deps.sh

train:  ## train a network on Fashion-MNIST, on a GPU if one is available
	@tools/install_deps.sh train
	cmake --preset train -DHEARTH_CUDA=$(if $(shell nvidia-smi -L 2>/dev/null | grep '^GPU '),AUTO,OFF)
	cmake --build --preset train
	build/train/hearth train

test: deps  ## build with optimisation and run every test
	cmake --preset release
	cmake --build --preset release
	ctest --preset release

test-all: deps  ## run all checks, including the slow ones that `make test` omits (CONTRIBUTING.md)
	cmake --preset all
	cmake --build --preset all
	ctest --preset all
	bench/compare.py --check --build build/all
	tools/check_headers.py --all
	tools/check_kernel_objects.sh build/all
	tools/test_with_libtorch.sh build/all
	$(MAKE) sanitize-threads
	$(MAKE) docs

sanitize: deps  ## run the tests under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

sanitize-threads: deps  ## run the tests that use threads under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan
	ctest --preset tsan

check: deps  ## check format, layers, names, headers, environment variables, generated pages, mutants, kernel objects and exported symbols
	tools/check_format.sh
	tools/check_layers.py
	tools/check_names.py
	tools/check_headers.py
	tools/check_environment.py
	tools/lists.py --check
	tools/nn_list.py --check
	tools/mutants.py --check
	cmake --preset release
	cmake --build --preset release --target hearth
	tools/check_kernel_objects.sh build/release
	tools/check_symbols.sh build/release/libhearth.so

bench: deps  ## build and run the benchmarks
	cmake --preset bench
	cmake --build --preset bench --target bench
# bench_gpu runs only if there is a GPU.
	for program in build/bench/bench_*; do \
	  [ $$program != build/bench/bench_gpu ] || nvidia-smi -L >/dev/null 2>&1 || continue; \
	  $$program || exit 1; \
	done

docs:  ## write the guide and the reference of the API to build/docs/html
	@tools/install_deps.sh docs
	tools/make_docs.py

deb:  ## build a Debian package in build/deb, without the CUDA plugin
	@tools/install_deps.sh package
	cmake --preset deb
	cmake --build --preset deb
	cpack --preset deb

install:  ## install under PREFIX (default /usr/local)
	@tools/install_deps.sh program
	cmake --preset dist
	cmake --build --preset dist
	cmake --install build/dist --prefix $(PREFIX)

format:  ## format the sources with clang-format
	tools/check_format.sh --fix

clean:  ## remove all build output
	rm -rf build
