# Everything a clone needs; on a fresh Debian 12 only git and make have to be there already.
# `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help deps build run demo test interop-deps bench format lint clean

# What git knows and what it would know after `git add`, so that nothing in build/ is touched.
SOURCES = git ls-files --cached --others --exclude-standard

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

deps: ## Install the Debian packages that the build and the tests need
	@deploy/install-packages build test

build: deps ## Build build/levee
	@test -f build/build.ninja || cmake --preset release
	@cmake --build --preset release

run: build ## Start the demo and keep the sidecar up until Ctrl-C
	@build/levee demo --stay

demo: build ## Run the demo once and exit
	@build/levee demo

test: deps ## Run all tests: release, address and undefined behaviour, thread sanitizer
	@tests/run

interop-deps: ## Fetch what the tests with Node, Python, Go and Java clients need to run
	@tests/interop/fetch

bench: build ## Measure Levee and its peers on this machine
	@deploy/install-packages bench
	@tests/bench/run

format: ## Format the C++ sources in place
	@deploy/install-packages lint
	@$(SOURCES) 'proxy/*.cc' 'proxy/*.h' 'tests/*.cc' 'tests/*.h' | xargs -r clang-format -i

lint: deps ## Check formatting and run clang-tidy; CHANGED=1 looks only at what differs from HEAD
	@deploy/install-packages lint
	@tests/lint

clean: ## Remove what was built
	@rm -rf build build-asan build-tsan
