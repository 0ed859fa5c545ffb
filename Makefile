# make check is what has to pass; make test is the quick part of it; make bench prints the figures.

GO    ?= go
RACE  := ./node/... ./exec/... ./cmd/...
export GOFLAGS := -buildvcs=false

.PHONY: check fmt vet build test race bench conformance soak fuzz generate paper chaos

check: fmt vet build test race

fmt:
	@out=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...
	cd tools && $(GO) build -o ../bin/ honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

build:
	CGO_ENABLED=0 $(GO) build -o bin/skep ./cmd/skep

test:
	$(GO) test ./...

race:
	$(GO) test -race -short $(RACE)

# Each figure is a line: bar: what, measured, what is wanted, pass or MISS. All of them come again as one table at the
# end, and stay in bin/bench.txt. Half an hour on two cores.
bench:
	@mkdir -p bin
	@{ $(GO) test -run '^$$' -bench 'Bars$$' -benchtime 1x -timeout 40m -p 1 ./lpas ./sim ./sim/queueing ./sim/spread ./sim/forwarding ./cmd/skep; echo $$? > bin/bench.status; } | tee bin/bench.txt
	@echo; grep -o 'bar: .*' bin/bench.txt; exit $$(cat bin/bench.status)

# One scenario in the simulator and, several times, on real nodes: a minute.
conformance:
	SKEP_CONFORMANCE=4 $(GO) test -run 'TestConformance$$' -count 1 -v ./cmd/skep

# The published tables in full, in some three hours on two cores, and bin/paper.html with tables and plots. One that departs from
# print without a reason fails it at the end; the page is there all the same.
paper: build
	$(GO) build -o bin/skep-paper ./cmd/skep-paper
	@ok=0; pages=; for s in sim/paper/*/study.yaml; do n=$$(basename $$(dirname $$s)); echo "$$n"; \
		bin/skep sim paper run $$n --full --output json > bin/paper-$$n.json || ok=1; pages="$$pages bin/paper-$$n.json"; done; \
	bin/skep-paper -o bin/paper.html $$pages && echo bin/paper.html && exit $$ok

# Nine nodes, for three minutes killed, paused and cut off at random while 2,000 tasks run: nothing may be lost.
chaos: build
	bin/skep testnet chaos

# Random worlds with every fault at once, and larger instances of the register's model: some minutes, a few gigabytes.
soak:
	$(GO) test ./sim -run '^TestSwarm$$' -sim.swarm 10000 -timeout 60m
	$(GO) test ./register -run '^TestEveryInterleaving$$' -register.deep -timeout 60m -v

# Every decoder that reads what a peer sent, for a while each.
fuzz:
	@for f in $$(grep -rho 'func Fuzz[A-Za-z]*' --include='*_test.go' . | sed 's/func //' | sort -u); do \
		d=$$(grep -rl "func $$f(" --include='*_test.go' . | head -1 | xargs dirname); \
		echo "$$d $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s $$d || exit 1; done

generate:
	cd tools && $(GO) build -o ../bin/ google.golang.org/protobuf/cmd/protoc-gen-go
	PATH="$$PWD/bin:$$PATH" $(GO) generate ./...
