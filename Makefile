# SPDX-License-Identifier: Apache-2.0
# Everything a clone needs; on a fresh Debian 12 only git and make have to be there already.
# `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# Where deploy/fetch-go leaves Go if none is installed.
export PATH := $(PATH):$(CURDIR)/build/go/bin
.PHONY: help deps build run demo quick test fuzz ledger fresh mutation interop-deps spire-deps \
        kubernetes-deps image-test package release bench instructions simulator storms weather \
        storm-seeds random-calls attacks soak schema format lint clean

# What git knows and what it would know after `git add`, so that nothing in build/ is touched.
SOURCES = git ls-files --cached --others --exclude-standard

# Compiles the targets that it is called with, and configures at first, with nothing printed but
# faults. Without tests, where none is asked for, so that what only they need may be missing.
compile = { test -f build/build.ninja || \
            cmake --preset release -DLEVEE_BUILD_TESTS=OFF >/dev/null; } && \
          cmake --build --preset release --target $(1)
compile_shipped = cmake --preset shipped && cmake --build --preset shipped --target $(1)
compile_tests = cmake --preset release && cmake --build --preset release --target $(1)

help: ## List the targets; each installs the Debian packages it needs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 17

deps: ## Install what `make test` needs, of Debian and of npm
	@deploy/install-packages build test-build test
	@deploy/fetch-npm tests/page tests/kubernetes

build: ## Build build/levee, its manual pages and completions
	@deploy/install-packages build manual
	@$(call compile,levee levee_docs)

run: ## Start the demo and keep the sidecar up until Ctrl-C
	@deploy/install-packages build try
	@$(call compile,levee)
	@build/levee demo --stay

demo: ## Run the demo once and exit
	@deploy/install-packages build
	@$(call compile,levee)
	@build/levee demo

quick: ## Run the unit tests without gRPC and the structure rules
	@deploy/install-packages build test-build
	@$(call compile_tests,quick)

test: deps ## Run all tests that decide: release, image, sanitizers, fuzz targets
	@deploy/install-packages fuzz || echo "make: without these packages the fuzz targets are skipped"
	@deploy/install-packages image-test || echo "make: without these packages the image is not tested"
	@tests/run

fuzz: ## Run every fuzz target for TIME seconds
	@deploy/install-packages build test-build fuzz
	@tests/fuzz/run $(or $(TIME),60)

ledger: ## Check CALLS calls (10000000), or KEYS=1000000 keys, in a faulty world
	@deploy/install-packages build test-build $(if $(KEYS),test)
	@$(call compile_tests,levee $(if $(KEYS),key_ledger,ledger))
	@$(if $(KEYS),build/tests/key_ledger --keys $(KEYS),build/tests/ledger \
	    --calls $(or $(CALLS),10000000)) --seed $(or $(SEED),1)

fresh: ## Run what CI runs, in a fresh Debian 12; needs root
	@.ci/run

mutation: deps ## Break Levee bug by bug; say which the tests find (hours)
	@tests/mutation/run

interop-deps: ## Fetch gRPC for Node, Python, Go, Java and Rust, and a rate limit service, for tests
	@deploy/fetch-go || true
	@tests/interop/fetch

spire-deps: ## Build SPIRE to test the identities of SPIFFE with (half an hour)
	@deploy/fetch-go
	@tests/interop/fetch build/interop spire

kubernetes-deps: ## Build kubectl, helm and an API server to test manifests with
	@deploy/fetch-go
	@tests/kubernetes/fetch-tools

image-test: ## Build the image without Docker and run it; needs root
	@deploy/install-packages build test-build test image-test
	@deploy/fetch-npm tests/page
	@tests/image/run

package: ## Write build/levee_VERSION_ARCHITECTURE.deb and check it
	@deploy/install-packages build manual package
	@$(call compile_shipped,levee levee_docs)
	@cpack --config build/shipped/CPackConfig.cmake -B build
	@lintian --allow-root --fail-on error build/levee_*.deb

release: package ## Leave package, image, SBOM, checksums in release/; needs root
	@deploy/install-packages test-build test image image-test bench
	@$(call compile_tests,bench_echo)
	@deploy/fetch-npm tests/page
	@deploy/release

bench: ## Measure Levee and its peers on this machine
	@deploy/install-packages build test-build bench
	@$(call compile_shipped,levee)
	@tests/bench/run --scaling --tls

instructions: ## Count those of a call and of a simulated attempt, by callgrind
	@deploy/install-packages build test-build bench
	@$(call compile_tests,levee bench_echo)
	@python3 -B tests/bench/instructions.py

simulator: ## Print how many attempts a second levee simulate makes
	@deploy/install-packages build test-build
	@$(call compile_shipped,levee)
	@python3 -B tests/bench/simulator.py

storms: ## Compare Levee, gRPC's own retries and Envoy in the same storms
	@deploy/install-packages build test-build storms
	@tests/storms/run

weather: ## Compare a direct connection, gRPC's own retries, Envoy and Levee on ordinary days
	@deploy/install-packages build test-build storms
	@tests/weather/run

storm-seeds: ## Run storms on virtual time over SEEDS seeds (1000), ROWS=*S8*
	@deploy/install-packages build test-build
	@$(call compile_tests,call_test)
	@LEVEE_STORM_SEEDS=$(or $(SEEDS),1000) build/tests/call_test \
	    --gtest_filter='CallStorm$(or $(ROWS),*)'

random-calls: ## Make random calls through the binary for TIME seconds (60); then on virtual time
	@deploy/install-packages build test-build
	@$(call compile_tests,call_test levee random_ledger)
	@build/tests/random_ledger --seconds $(or $(TIME),60) --seed $(or $(SEED),$(shell date +%s))
	@LEVEE_PROPERTY_SEEDS=$(or $(SEEDS),500000) LEVEE_PROPERTY_FIRST=$(or $(FIRST),1) \
	    build/tests/call_test --gtest_filter='*RandomCalls.*'

attacks: ## Compare what an attack on Levee and its peers costs others
	@deploy/install-packages build test-build bench
	@tests/attacks/run

soak: deps ## Search at random, measure real moments (hours); PART=fuzz: only that
	@deploy/install-packages fuzz
	@$(call compile_tests,all)
	@tests/soak $(PART)

schema: ## Write the JSON Schemas and all lists of limits from the .proto files
	@deploy/install-packages build test-build
	@$(call compile_tests,levee_schema)
	@build/tests/levee_schema build/protos/commented_config.pb > build/levee.schema.json
	@mv build/levee.schema.json config/levee.schema.json
	@build/tests/levee_schema build/protos/commented_config.pb scenario > build/written
	@cp build/written config/levee.scenario.schema.json
	@for file in config/levee.yaml docs/limits.md; do \
	  build/tests/levee_schema build/protos/commented_config.pb $$file > build/written && \
	  cp build/written $$file || exit 1; done

format: ## Format the C++ sources in place
	@deploy/install-packages lint
	@$(SOURCES) 'proxy/*.cc' 'proxy/*.h' 'tests/*.cc' 'tests/*.h' | xargs -r clang-format -i

lint: ## Check format, run clang-tidy; CHANGED=1: of what is not in HEAD
	@deploy/install-packages build lint
	@tests/lint

clean: ## Remove what was built
	@rm -rf build build-asan build-tsan build-fuzz release
