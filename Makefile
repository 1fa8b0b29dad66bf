.DEFAULT_GOAL := help
.PHONY: help install check fix test demo cluster-up test-cluster cluster-down

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: ## .venv with everything pinned in requirements/
	@scripts/install

check: install ## formatting, lint, types, layers
	@scripts/check

fix: install ## format, and mend what ruff can mend
	@scripts/fix

test: check ## every check, and every test that needs no cluster
	@scripts/test

demo: install ## start the embedded home, deploy examples/hello, call it (ONCE=1: end after the answer)
	@scripts/demo $(if $(ONCE),--once)

cluster-up: install ## as root: a Kubernetes cluster of one node; the first time it is built, 15 min
	@scripts/cluster up

test-cluster: install ## the Kubernetes home's tests, on that cluster or on KUBECONFIG=… REGISTRY=…
	@scripts/test-cluster

cluster-down: ## as root: ends that cluster; what was built stays in ~/.cache/sless-cluster
	@scripts/cluster down
