# Everything a clone needs; on a fresh Debian 12 only git and make have to be there already.
# `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help deps build run demo test fuzz ledger mutation interop-deps image-test package bench \
        schema format lint clean

# What git knows and what it would know after `git add`, so that nothing in build/ is touched.
SOURCES = git ls-files --cached --others --exclude-standard

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

deps: ## Install the Debian and npm packages that the build and the tests need
	@deploy/install-packages build test
	@deploy/fetch-npm tests/page tests/kubernetes

build: deps ## Build build/levee, its manual pages and completions
	@test -f build/build.ninja || cmake --preset release
	@cmake --build --preset release --target levee levee_docs

run: build ## Start the demo and keep the sidecar up until Ctrl-C
	@build/levee demo --stay

demo: build ## Run the demo once and exit
	@build/levee demo

test: deps ## Run all tests: release, sanitizers, and each fuzz target for 20 seconds
	@tests/run

fuzz: ## Run every fuzz target for TIME seconds
	@deploy/install-packages build test fuzz
	@tests/fuzz/run $(or $(TIME),60)

ledger: build ## Check CALLS calls (10000000) one by one through a faulty world, of seed SEED
	@cmake --build --preset release --target ledger
	@build/tests/ledger --calls $(or $(CALLS),10000000) --seed $(or $(SEED),1)

mutation: deps ## Break Levee on purpose, bug by bug, and say which the tests find (hours)
	@tests/mutation/run

interop-deps: ## Fetch what the tests with gRPC for Node, Python, Go, Java and Rust need
	@tests/interop/fetch

image-test: deps ## Build the image without Docker and run it; needs root
	@deploy/install-packages image-test
	@tests/image/run

package: build ## Write build/levee_VERSION_ARCHITECTURE.deb and check it
	@deploy/install-packages package
	@cpack --config build/CPackConfig.cmake -B build
	@lintian --allow-root --fail-on error build/levee_*.deb

bench: build ## Measure Levee and its peers on this machine
	@deploy/install-packages bench
	@tests/bench/run --scaling

schema: build ## Write config/levee.schema.json anew from config.proto
	@cmake --build --preset release --target levee_schema
	@build/tests/levee_schema build/protos/commented_config.pb > build/levee.schema.json
	@mv build/levee.schema.json config/levee.schema.json

format: ## Format the C++ sources in place
	@deploy/install-packages lint
	@$(SOURCES) 'proxy/*.cc' 'proxy/*.h' 'tests/*.cc' 'tests/*.h' | xargs -r clang-format -i

lint: deps ## Check formatting and run clang-tidy; CHANGED=1 looks only at what differs from HEAD
	@deploy/install-packages lint
	@tests/lint

clean: ## Remove what was built
	@rm -rf build build-asan build-tsan build-fuzz
