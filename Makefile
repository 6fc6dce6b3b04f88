# klog. `make help` says what there is.

SHELL       := bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := build

GO       ?= go
TAGS     := urfave_cli_no_docs
prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
datadir  ?= $(prefix)/share
mandir   ?= $(datadir)/man
FUZZTIME ?= 10s

# Tools are built from these versions into .bin, and are no part of go.mod.
GOFUMPT_VERSION     := v0.12.0
STATICCHECK_VERSION := v0.8.2

PROGRAMS := $(notdir $(wildcard cmd/klog cmd/klog-net))
TEST     := $(GO) test -json -tags $(TAGS)
TESTLOG  := $(GO) run ./cmd/internal/testlog
# Packages in which several goroutines meet. The tests of cmd itself and of cmd/internal
# run processes and measure them: the detector would make them other processes.
RACE     := ./segments/... ./engine/... ./cmd/feed ./cmd/format ./cmd/gauge ./cmd/lines ./cmd/logfile ./cmd/show

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## build klog here
	@for p in $(PROGRAMS); do CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) -ldflags '-s -w' -o $$p ./cmd/$$p || exit 1; done

.PHONY: demo
demo: build ## show klog at work on a real file, in a root that is thrown away
	@contrib/demo.sh ./klog

.PHONY: test
test: ## run the tests; what cannot run here is skipped by name
	@$(TEST) ./... | $(TESTLOG)

.PHONY: fuse
fuse: ## run the tests on file systems made for them; takes root and /dev/fuse
	@$(GO) test -json -tags $(TAGS),fuse -run Fuse ./segments/... ./engine/... | $(TESTLOG)

.PHONY: test-long
test-long: ## kill storms, models, namespaces, then fuzzing: up to 45 minutes
	@KLOG_TEST_LONG=1 $(TEST) -timeout 40m -p 1 -run 'Long' ./... | $(TESTLOG)
	@$(MAKE) --no-print-directory fuzz

.PHONY: race
race: ## run the tests under the race detector
	@if command -v $$($(GO) env CC) > /dev/null; \
	then CGO_ENABLED=1 $(TEST) -race $(RACE) | $(TESTLOG); \
	else echo 'skip: the race detector needs a C compiler'; fi

# A worker that is still at work when the time is over makes go test fail with a deadline:
# only an input that failed, or a fault, counts.
.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME each
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file fn; do \
		fn=$${fn#func } dir=$${file%/*}; \
		echo "$$fn in $$dir"; \
		out=$$($(GO) test -tags $(TAGS) -run '^$$' -fuzz "^$$fn\$$" -fuzztime $(FUZZTIME) "$$dir" 2>&1) && continue; \
		case $$out in \
		*'Failing input'* | *panic:* | *'fatal error'*) ;; \
		*'context deadline exceeded'*) continue ;; \
		esac; \
		echo "$$out"; exit 1; \
	done

.PHONY: bench
bench: build ## measure against plain tools in the same minute (BENCH='-mb 1000 -only cat')
	@$(GO) run -tags $(TAGS) ./cmd/internal/speed -klog ./klog $(BENCH)

.PHONY: interop
interop: ## prove the format against Apache Kafka's own tools, from Maven Central
	@KLOG_TEST_INTEROP=1 $(TEST) -timeout 20m -run 'Interop' ./... | $(TESTLOG)

.PHONY: fmt
fmt: .bin/gofumpt ## format the code
	@.bin/gofumpt -w .

.PHONY: lint
lint: .bin/gofumpt .bin/staticcheck ## format check, vet for Linux and macOS, staticcheck
	@files=$$(.bin/gofumpt -l .) && if [ -n "$$files" ]; then echo "not formatted (make fmt does it):" $$files; exit 1; fi
	@$(GO) vet -tags $(TAGS) ./...
	@$(GO) vet ./...
	@$(GO) vet -tags $(TAGS),fuse ./...
	@GOOS=darwin $(GO) vet -tags $(TAGS) ./...
	@GOOS=freebsd $(GO) vet -tags $(TAGS) ./...
	@.bin/staticcheck -tags $(TAGS) ./...

.PHONY: generate
generate: ## make the man pages and completions anew from the command tree
	@$(GO) run -tags $(TAGS) ./cmd/klog __man man
	@for s in bash zsh fish; do $(GO) run -tags $(TAGS) ./cmd/klog completion $$s > completions/klog.$$s || exit 1; done

.PHONY: check
check: lint test fuse race ## all that must hold before a commit; drift of generated files is a test

.PHONY: install
install: build ## install into prefix (/usr/local), below DESTDIR
	@install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(mandir)"/man{1,5,7} "$(DESTDIR)$(datadir)"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
	install -m 755 $(PROGRAMS) "$(DESTDIR)$(bindir)"
	@for s in 1 5 7; do install -m 644 man/*.$$s "$(DESTDIR)$(mandir)/man$$s" || exit 1; done
	@install -m 644 completions/klog.bash "$(DESTDIR)$(datadir)/bash-completion/completions/klog"
	@install -m 644 completions/klog.zsh "$(DESTDIR)$(datadir)/zsh/site-functions/_klog"
	@install -m 644 completions/klog.fish "$(DESTDIR)$(datadir)/fish/vendor_completions.d/klog.fish"

.PHONY: uninstall
uninstall: ## remove what install put there
	rm -f $(addprefix "$(DESTDIR)$(bindir)"/,$(PROGRAMS))
	@for s in 1 5 7; do for f in man/*.$$s; do rm -f "$(DESTDIR)$(mandir)/man$$s/$${f##*/}"; done; done
	@rm -f "$(DESTDIR)$(datadir)/bash-completion/completions/klog" "$(DESTDIR)$(datadir)/zsh/site-functions/_klog" "$(DESTDIR)$(datadir)/fish/vendor_completions.d/klog.fish"

.PHONY: clean
clean: ## remove what make made
	rm -rf klog klog-net dist .bin

.bin/gofumpt: Makefile
	@GOBIN=$(CURDIR)/.bin $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION) && touch $@

.bin/staticcheck: Makefile
	@GOBIN=$(CURDIR)/.bin $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) && touch $@
