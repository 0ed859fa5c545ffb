# make check is what has to pass; make test is the quick part of it; make bench prints the figures.

GO    ?= go
# The packages with goroutines of their own and those that link them into a node; the cores of a node and of a machine
# start none (tidy_test.go). Studies and simulators run whole worlds side by side, which share nothing.
RACE  := ./node/api/... ./node/p2p/... ./exec/account ./exec/checkpoint ./exec/intact ./exec/network ./exec/outputs ./exec/process ./exec/progress ./exec/sandbox/... ./exec/session ./exec/terminal \
	./exec/child ./exec/external ./exec/slurm ./exec/suspend ./exec/units ./cmd/... ./testnet ./testnet/demo
export GOFLAGS := -buildvcs=false
# As it is released. All steps but race, which needs C, so compile everything once.
export CGO_ENABLED := 0

.PHONY: check fmt vet build test race bench conformance soak fuzz generate paper chaos digests attack mutants

check: fmt vet build test race

fmt:
	@out=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...
	cd tools && $(GO) build -o ../bin/ honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

build:
	$(GO) build -o bin/skep ./cmd/skep

# Without vet, which check runs by itself.
test:
	$(GO) test -vet=off -timeout 30m ./...

race:
	CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 30m $(RACE)

# Each figure is a line: bar: what, measured, what is wanted, pass or MISS. All of them come again as one table at the
# end, and stay in bin/bench.txt. Forty minutes on two cores.
bench:
	@mkdir -p bin
	@{ $(GO) test -run '^$$' -bench 'Bars$$' -benchtime 1x -timeout 60m -p 1 ./balance/knapsack ./exec ./gang ./lpas ./exec/process ./node/p2p/mesh ./node/p2p/store ./sim ./sim/event ./sim/marketplace ./sim/queueing ./sim/spread ./sim/forwarding ./cmd/skep; echo $$? > bin/bench.status; } | tee bin/bench.txt
	@echo; grep -o 'bar: .*' bin/bench.txt; exit $$(cat bin/bench.status)

# Two scenarios in the simulator and, several times, on real nodes: placements, for a minute, and the protocols of the market
# by their weighted completion times, for half an hour.
conformance:
	SKEP_CONFORMANCE=4 $(GO) test -run 'TestConformance$$' -count 1 -v ./cmd/skep
	SKEP_MARKET_CONFORMANCE=6 $(GO) test -run 'TestMarketConformance$$' -count 1 -timeout 1h -v ./cmd/skep

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
	bin/skep testnet chaos --deaths

# What docs/trust.md says that a task cannot do, and a member, tried on real nodes. Tasks: in every environment that this machine has
# (as root: also as another user, and in containers), with older versions of Landlock, and without boxes, where much succeeds; the
# outcome of every attack stays in bin/attack.txt. A member: each attack for MEMBERS on a network of its own, where memory and disk
# of a node must not grow by more than 256 MiB; make attack MEMBERS=10m takes hours. The short form is a test of testnet/attack.
MEMBERS ?= 30s
attack: build
	$(GO) build -o bin/skep-attack ./cmd/skep-attack
	$(GO) build -o bin/skep-intruder ./testnet/attack/intruder
	@ok=0; bin/skep-attack -full bin/attack.txt || ok=1; bin/skep-attack -members $(MEMBERS) || ok=1; exit $$ok

# Random worlds with every fault at once, every digest, larger instances of the register's model, 500 tasks of which a cluster
# of Slurm runs most while its node is killed, and what wants a virtual machine, which takes qemu and a kernel: some minutes, a
# few gigabytes.
soak:
	$(GO) test ./sim ./sim/net -count 1 -timeout 30m
	$(GO) test ./sim -run '^TestSwarm$$' -sim.swarm 10000 -timeout 60m
	$(GO) test ./sim/net -run '^TestRegretOfHistories$$' -net.histories 200 -v
	$(GO) test ./sim/net -run '^TestHostileNodes$$' -net.hostile -count 1 -v
	$(GO) test ./sim/net -run '^TestAutoIsAsGoodAsTheBest$$' -net.reliability 4 -count 1 -timeout 30m -v
	$(GO) test ./sim/paper -run '^TestQuick$$' -paper.quick -count 1 -timeout 30m -v
	$(GO) test ./node/replication -run '^TestEveryInterleaving$$' -register.deep -timeout 60m -v
	$(GO) test ./cmd/skep -run '^TestSlurmNodeIsKilled$$' -slurm.tasks 500 -count 1 -v -timeout 20m
	$(GO) test ./exec/process -run VirtualMachine -vm.kernel "$$(ls /boot/vmlinuz-* 2>/dev/null | tail -1)" -count 1 -v

# What the simulated worlds of the tests do, kept as a digest each: for a change that is meant to alter it.
digests:
	SKEP_DIGESTS=write $(GO) test ./sim -sim.swarm 1000 -count 1 -timeout 30m
	SKEP_DIGESTS=write $(GO) test ./sim/net -net.hostile -count 1

# Faults made one by one in copies of the sources, each of which a named test has to find: half an hour or more.
# Those of one folder: go test ./internal/mutants -mutants -mutants.only node/quota
mutants:
	$(GO) test ./internal/mutants -mutants -count 1 -v -timeout 120m

# Every decoder that reads what a peer sent, for a while each.
fuzz:
	@for f in $$(grep -rho 'func Fuzz[A-Za-z]*' --include='*_test.go' . | sed 's/func //' | sort -u); do \
		d=$$(grep -rl "func $$f(" --include='*_test.go' . | head -1 | xargs dirname); \
		echo "$$d $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s $$d || exit 1; done

generate:
	cd tools && $(GO) build -o ../bin/ google.golang.org/protobuf/cmd/protoc-gen-go
	PATH="$$PWD/bin:$$PATH" $(GO) generate ./...
