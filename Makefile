# Two commands are enough on a fresh Debian 12 with a CUDA toolkit: `make run` and `make test`.
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
TASK ?= tasks/softmax_rows.md

.PHONY: help setup setup-test build run test asan ubsan tsan lint format bench coverage-doc differential fuzz mutation attacks install clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

setup:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh test

build: setup ## build the program; leaves it at build/kernelwright
	@scripts/build.sh release kernelwright
	@ln -sfn release/bin/kernelwright build/kernelwright
	@echo "built build/kernelwright"

run: build ## run the main job, with no GPU, no network and no key (TASK=PAGE: on another task)
	@scripts/run.sh $(TASK)

test: setup-test ## build everything and run the whole test suite
	@scripts/test.sh release

asan: setup-test ## the test suite under AddressSanitizer
	@scripts/test.sh asan

ubsan: setup-test ## the test suite under UndefinedBehaviorSanitizer
	@scripts/test.sh ubsan

tsan: setup-test ## the test suite under ThreadSanitizer
	@scripts/test.sh tsan

lint: setup-test ## clang-format and clang-tidy over the sources
	@scripts/lint.sh

format: ## rewrite the sources with clang-format
	@git ls-files '*.h' '*.cc' | xargs clang-format -i && echo "formatted"

bench: setup-test ## speed of the emulated GPU, as ratios within one run
	@scripts/bench.sh

coverage-doc: ## write docs/ptx-coverage.md: which PTX forms the cases of tests/cases/ptx prove
	@scripts/ptx_coverage.py

differential: setup-test ## compare the emulated GPU's two engines on N generated programs (N=20000 SEED=1)
	@scripts/differential.sh $(or $(N),20000) $(or $(SEED),1)

fuzz: setup-test ## libFuzzer on the PTX parser and executor for MINUTES (10); needs clang-19
	@scripts/fuzz.sh $(or $(MINUTES),10)

mutation: build ## mutation testing of the verifiers (not built yet)
	@echo "make mutation is not built yet" && exit 3

attacks: setup-test ## every wrong kernel of tests/cases/verdict/bad must be rejected
	@scripts/attacks.sh

install: build ## copy the program and its data below PREFIX (default /usr/local)
	@cmake --install build/release --prefix "$(PREFIX)" >/dev/null && echo "installed below $(PREFIX)"

clean: ## remove what was built
	@rm -rf build && echo "removed build/"
