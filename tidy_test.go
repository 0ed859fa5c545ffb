// Package skep holds the rules of the house as a test.
package skep

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// floors lists what each package may import of this module: arrows point down only. A package that is not
// listed may not exist.
var floors = map[string][]string{
	"grid":              {"internal/indices", "requirement"},
	"lpas":              {},
	"document":          {"grid"},
	"gossip":            {"grid"},
	"exec":              {"grid", "heap", "balance/order", "balance/reallocation", "balance/utility", "exec/proportional"},
	"sparse":            {},
	"heap":              {},
	"fifo":              {"grid"},
	"discovery":         {"grid", "gossip", "fifo", "requirement"},
	"balance":           {"grid", "gossip", "lpas", "balance/allocator", "balance/batch", "balance/market", "balance/utility"},
	"exec/session":      {"exec/terminal"},
	"exec/terminal":     {},
	"exec/network":      {"grid", "exec/sandbox"},
	"exec/process":      {"grid", "exec", "exec/progress", "exec/sandbox", "exec/sandbox/zygote", "exec/suspend", "exec/terminal"},
	"exec/suspend":      {},
	"exec/external":     {"exec/process", "exec/terminal"},
	"exec/child":        {"grid", "exec/external", "exec/process", "node/api/client", "node/api/v1"},
	"exec/slurm":        {"exec/external", "exec/process"},
	"exec/account":      {"grid"},
	"exec/sandbox":      {"grid", "exec/account", "exec/sandbox/zygote", "exec/terminal"},
	"exec/proportional": {},
	"exec/units":        {"grid"},

	"balance/allocator":     {"balance/knapsack", "balance/utility"},
	"balance/batch":         {},
	"balance/knapsack":      {},
	"balance/market":        {},
	"balance/market/advice": {"balance/market"},
	"balance/order":         {"grid", "balance/market", "balance/reallocation"},
	"balance/reallocation":  {"grid", "balance/knapsack", "balance/utility"},
	"balance/utility":       {"document"},
	"balance/waiting":       {"heap"},

	"gang":        {},
	"requirement": {},
	"gang/mapper": {"gang"},
	"gang/model":  {"gang"},

	"exec/progress":       {"grid"},
	"exec/checkpoint":     {"exec/process"},
	"exec/outputs":        {},
	"exec/intact":         {},
	"exec/sandbox/zygote": {},

	"node": {"grid", "gossip", "discovery", "balance", "exec", "node/chain", "node/checkpoint", "node/coordinator",
		"node/coordinator/tuning", "node/dependency", "node/deposit", "node/exclusion", "node/membership", "node/registers",
		"node/peers", "node/policies", "node/price", "node/profile", "node/pull", "node/quota", "node/rates",
		"node/replication", "node/worker", "requirement"},
	"node/intake":      {"grid", "balance/knapsack", "balance/order", "balance/utility"},
	"node/price":       {"grid", "exec", "balance", "balance/market"},
	"node/checkpoint":  {"grid"},
	"node/pull":        {"grid"},
	"node/turns":       {"grid", "heap", "balance/order"},
	"node/reservation": {"grid"},
	"node/deadline":    {"grid", "heap"},
	"node/budget":      {"grid"},
	"node/gangs":       {"grid"},
	"node/schedule":    {"grid", "gang", "gang/mapper", "gang/model", "node/gangs"},
	"node/contract":    {"grid", "node/gangs", "node/schedule"},
	"node/coordinator": {"grid", "gossip", "exec", "sparse", "heap", "fifo", "discovery", "balance",
		"internal/indices", "node/barrier", "node/budget", "node/checkpoint", "node/contract", "node/deadline", "node/dependency", "node/deposit", "node/gangs", "node/migration", "node/coordinator/archive", "node/coordinator/bulk", "node/coordinator/callers", "node/coordinator/cancellation", "node/coordinator/candidates", "node/coordinator/live", "node/coordinator/offered", "node/coordinator/packed", "node/coordinator/register", "node/coordinator/rounds", "node/coordinator/survey", "node/coordinator/tasks", "node/coordinator/tuning", "node/coordinator/unwanted", "node/coordinator/view", "node/decisions", "node/exclusion", "node/failures", "node/reliability", "node/coordinator/retention",
		"node/history", "node/mapping", "node/membership", "node/ownercache", "node/peers", "node/policies", "node/progress", "node/quota", "node/schedule", "node/turns"},
	"node/coordinator/archive":      {"grid", "node/coordinator/packed", "node/coordinator/retention"},
	"node/coordinator/retention":    {"grid"},
	"node/coordinator/bulk":         {},
	"node/coordinator/callers":      {"grid", "internal/indices"},
	"node/coordinator/cancellation": {"grid", "internal/indices", "node/dependency", "node/failures"},
	"node/coordinator/candidates":   {"balance", "discovery", "grid", "node/decisions", "node/exclusion", "node/peers"},
	"node/coordinator/live":         {"grid", "heap", "node/progress", "sparse"},
	"node/coordinator/offered":      {"grid"},
	"node/coordinator/packed":       {"grid", "node/history"},
	"node/coordinator/survey":       {"discovery", "gossip", "grid", "node/exclusion"},
	"node/coordinator/rounds":       {},
	"node/coordinator/tasks":        {"grid", "node/coordinator/packed", "node/failures", "sparse"},
	"node/coordinator/unwanted":     {"fifo", "grid"},
	"node/coordinator/view":         {"grid", "node/checkpoint", "node/progress"},
	"node/migration":                {"balance", "grid"},
	"node/coordinator/register":     {"grid", "node/deposit"},
	"node/coordinator/tuning":       {"grid", "balance/order", "node/coordinator/retention", "node/exclusion", "node/mapping"},
	"node/barrier":                  {"grid", "heap"},
	"node/failures":                 {"grid"},
	"node/mapping":                  {"grid", "balance"},
	"node/exclusion":                {"grid"},
	"node/decisions":                {"grid", "balance"},
	"node/history":                  {"grid"},
	"node/ownercache":               {"grid", "sparse"},
	"node/peers": {"grid", "gossip", "discovery", "balance", "balance/order", "exec", "fifo", "node/deadline", "node/policies", "node/price", "node/profile",
		"node/rates", "node/reputation", "requirement"},
	"node/deposit":            {"grid", "sparse", "fifo"},
	"node/membership":         {"grid", "sparse"},
	"node/policies":           {"grid", "balance"},
	"node/profile":            {"grid", "gossip", "balance", "requirement"},
	"node/quota":              {"grid", "sparse"},
	"node/worker":             {"grid", "balance/order", "balance/reallocation", "exec", "fifo", "node/chain", "node/checkpoint", "node/intake", "node/progress", "node/quota", "node/reservation"},
	"node/progress":           {"grid", "balance/order"},
	"node/rates":              {"grid"},
	"node/listing":            {"grid"},
	"node/p2p/wire":           {"grid", "internal/indices", "node/listing", "node/p2p/wire/internal/pb", "node/secret", "requirement", "node/certificate"},
	"node/replication":        {"grid", "sparse", "fifo", "node/chain", "node/failures", "node/generation", "node/replication/quorum"},
	"node/dependency":         {"grid", "heap", "sparse"},
	"node/registers":          {"grid", "node/coordinator", "node/replication"},
	"node/replication/quorum": {"grid"},

	"node/p2p/wire/internal/pb": {},

	"node/reputation":      {"grid"},
	"node/reliability":     {"grid", "balance", "balance/utility"},
	"node/generation":      {"grid"},
	"node/chain":           {"grid"},
	"node/secret":          {"fifo", "grid", "node/chain"},
	"node/p2p/secrets":     {"grid", "node/chain", "node/p2p/disk", "node/p2p/wire", "node/secret"},
	"node/certificate":     {"grid"},
	"node/p2p/generations": {"grid", "node/generation", "node/p2p/lifecycle", "node/p2p/transport", "node/p2p/wire"},

	"internal/cputime":     {},
	"internal/vm":          {},
	"internal/collector":   {},
	"internal/crash":       {},
	"internal/digests":     {},
	"internal/format1":     {"grid", "node/p2p/wire"},
	"internal/golden":      {},
	"internal/processes":   {},
	"internal/indices":     {},
	"internal/mutants":     {},
	"internal/slurmtest":   {"internal/processes"},
	"internal/screen":      {},
	"node/p2p/clock":       {"grid"},
	"node/p2p/identity":    {"grid", "node/p2p/disk"},
	"node/p2p/inbox":       {"grid"},
	"node/p2p/instance":    {"grid", "node/p2p/lifecycle", "node/p2p/transport", "node/p2p/wire"},
	"node/p2p/lifecycle":   {},
	"node/p2p/credentials": {"grid", "node/certificate", "node/p2p/disk", "node/p2p/identity", "node/p2p/transport"},
	"node/p2p/machine":     {"grid", "exec/process", "internal/cputime", "node/p2p/clock", "node/p2p/disk", "requirement"},

	"node/p2p/internal/rig": {"grid", "internal/hostile"},
	"node/p2p/engines": {"grid", "exec/child", "exec/external", "exec/process", "exec/slurm", "exec/terminal", "exec/units",
		"node/api/client", "requirement"},
	"node/p2p/runner": {"grid", "exec/checkpoint", "exec/external", "exec/intact", "exec/outputs", "exec/process", "exec/sandbox", "exec/session", "exec/terminal", "exec/units",
		"node/p2p/blob", "node/p2p/clock", "node/p2p/engines",
		"node/p2p/disk", "node/p2p/lifecycle", "node/p2p/mesh", "node/p2p/ports", "node/p2p/ranks", "node/p2p/secrets", "node/p2p/throughput",
		"node/p2p/wire"},
	"node/p2p/throughput": {"grid"},
	"node/p2p/transport": {"fifo", "grid", "node/p2p/transport/dials", "node/p2p/identity", "node/p2p/inbox",
		"node/p2p/lifecycle", "node/p2p/rpcguard", "node/p2p/transport/admission", "node/p2p/wire"},
	"node/p2p/reachability": {"grid", "node/p2p/transport/dials", "node/p2p/identity", "node/p2p/lifecycle",
		"node/p2p/transport", "node/p2p/wire"},
	"node/p2p/mesh":                {"grid", "exec/network", "node/p2p/lifecycle", "node/p2p/wire"},
	"node/p2p/ports":               {"grid", "exec/network", "node/p2p/lifecycle", "node/p2p/mesh", "node/p2p/wire"},
	"node/p2p/ranks":               {"grid", "exec/network", "exec/process", "exec/sandbox", "node/p2p/mesh", "node/p2p/ports"},
	"node/p2p/transport/dials":     {"grid"},
	"internal/hostile":             {"grid", "node/p2p/wire"},
	"node/p2p/rpcguard":            {},
	"node/p2p/transport/admission": {"grid"},

	"node/p2p/joblist": {"grid", "node", "node/listing", "node/p2p/transport", "node/p2p/wire"},

	"node/p2p/disk":       {"grid"},
	"node/p2p/store":      {"grid", "node/p2p/disk", "node/p2p/store/sums", "node/p2p/store/wal", "node/p2p/wire"},
	"node/p2p/store/sums": {"grid", "node/p2p/wire"},

	"node/p2p/store/wal": {"node/p2p/disk"},

	"node/p2p/blob": {"grid", "node/p2p/disk"},
	"node/p2p": {"grid", "heap", "internal/indices", "node", "node/chain", "node/coordinator/retention", "node/p2p/wire", "node/p2p/clock", "node/p2p/identity", "node/p2p/inbox",
		"node/p2p/instance", "node/p2p/lifecycle", "node/p2p/machine", "node/p2p/mesh", "node/p2p/ports", "node/p2p/transport", "node/p2p/reachability", "node/p2p/runner", "node/p2p/secrets", "node/generation", "node/p2p/generations",
		"node/certificate", "node/p2p/credentials",
		"node/p2p/disk", "node/p2p/store", "node/p2p/blob", "node/listing", "node/p2p/joblist", "exec/process",
		"exec/sandbox", "exec/units", "requirement"},
	"node/api/v1":     {"grid", "internal/indices", "requirement"},
	"node/api/client": {"grid", "node/api/v1"},

	"node/api/audit":   {},
	"node/api/secrets": {"grid", "node/api/v1", "node/secret"},
	"node/api/joblist": {"grid", "node/api/v1", "node/listing"},

	"node/api/signatures": {"grid", "node", "node/api/v1", "node/chain"},

	"node/api": {"grid", "internal/indices", "gossip", "discovery", "balance", "node", "node/checkpoint", "node/listing", "node/p2p/wire", "node/p2p/blob",
		"node/p2p/disk", "node/p2p/joblist", "node/api/audit", "node/api/joblist", "node/api/secrets", "node/api/signatures", "node/api/v1", "node/api/client"},
	"sim": {"grid", "internal/indices", "gossip", "discovery", "balance", "balance/order", "lpas", "exec", "exec/proportional", "node", "sim/event", "sim/mesh", "sim/oracle",
		"sim/codec", "sim/keeper", "sim/keys", "sim/stores"},
	"sim/keeper":       {"grid", "node/chain"},
	"sim/keys":         {"grid", "node/chain"},
	"sim/codec":        {"grid", "node/p2p/store/sums", "node/p2p/wire"},
	"sim/stores":       {"grid", "node/generation"},
	"sim/event":        {"grid"},
	"sim/oracle":       {"grid", "node", "node/chain", "sim/oracle/seats"},
	"sim/replicate":    {},
	"sim/queueing":     {"grid", "balance", "lpas", "document", "sim/replicate"},
	"sim/brokers":      {"grid", "balance", "heap", "sim/replicate"},
	"sim/chart":        {},
	"sim/marketplace":  {"grid", "balance/market", "document", "fifo", "heap", "sim/queueing", "sim/replicate"},
	"sim/pages":        {},
	"sim/spread":       {"grid", "gossip", "sim", "sim/event"},
	"sim/screen":       {},
	"sim/net/factors":  {"sim/net", "sim/screen"},
	"sim/record":       {"grid", "node", "node/chain", "sim"},
	"sim/oracle/seats": {"grid"},
	"sim/net": {"grid", "gossip", "gang/mapper", "gang/model", "discovery", "balance", "lpas", "exec", "node", "node/schedule",
		"sim", "sim/mesh", "sim/net/worth", "sim/pages", "sim/rank", "document", "requirement"},
	"sim/net/worth":    {"grid", "document"},
	"sim/rank":         {},
	"sim/mesh":         {"heap"},
	"sim/federation":   {"grid", "heap", "balance/waiting", "sim/replicate"},
	"sim/reallocation": {"grid", "heap", "balance/knapsack", "balance/utility", "sim/replicate"},
	"sim/recovery":     {"grid", "heap", "balance/knapsack", "balance/utility", "sim/replicate"},
	"sim/gangs":        {"gang", "gang/mapper", "gang/model", "grid", "sim/mesh", "sim/rank"},
	"sim/forwarding":   {"grid", "discovery", "sim/event"},
	"sim/paper": {"grid", "gossip", "discovery", "lpas", "node", "balance/market", "sim/brokers", "sim/federation", "sim/forwarding", "sim/gangs",
		"sim/marketplace", "sim/net", "sim/queueing", "sim/reallocation", "sim/recovery", "sim/spread"},
	"testnet":        {"grid", "exec/process", "node/p2p", "node/api/v1", "node/api/client"},
	"testnet/demo":   {"grid", "internal/cputime", "node/api/v1", "node/api/client"},
	"testnet/attack": {"grid", "node/api/client", "testnet/attack/world", "testnet/attack/member"},

	"testnet/attack/world":    {},
	"testnet/attack/member":   {"grid", "internal/hostile", "node/api/v1", "node/listing", "node/p2p/wire"},
	"testnet/attack/intruder": {"testnet/attack/world"},

	"examples/jacobi": {"examples/ranks"},
	"examples/life":   {"examples/ranks"},
	"examples/ranks":  {},

	"cmd/skep":           {"*"},
	"cmd/skep/heldlog":   {},
	"cmd/skep/prefix":    {},
	"cmd/skep/members":   {"grid", "node/api/client", "node/api/v1", "node/p2p", "node/p2p/credentials"},
	"cmd/skep/plots":     {"sim/chart", "sim/net", "sim/net/factors"},
	"cmd/skep/jobs":      {"grid", "node/listing", "node/api/client", "node/api/v1"},
	"cmd/skep/top":       {"grid", "node/api/client", "node/api/v1"},
	"cmd/skep/advise":    {"balance/market/advice", "sim/marketplace", "node/api/client", "node/api/v1"},
	"cmd/skep/bids":      {"document", "grid", "node/api/v1"},
	"cmd/skep/weighed":   {"node/api/v1"},
	"cmd/skep/arrays":    {"grid", "internal/indices", "node/api/v1"},
	"cmd/skep/environ":   {"cmd/skep/secrets", "grid", "node/api/v1"},
	"cmd/skep/secrets":   {"grid", "node/api/client", "node/api/v1"},
	"cmd/skep/signatures": {"grid", "node/api/client", "node/api/v1"},
	"cmd/skep/order":     {"document", "grid", "node/api/client", "node/api/v1"},
	"cmd/skep/gang":      {"document", "gang/mapper", "gang/model", "grid", "node/api/v1"},
	"cmd/skep/progress":  {"grid", "node/api/v1"},
	"cmd/skep/resources": {"grid", "document", "node/api/v1", "requirement"},
	"cmd/skep/stdin":     {"grid", "node/api/client", "node/api/v1"},
	"cmd/skep/terminal":  {"exec/session", "exec/terminal"},
	"cmd/skep-attack":    {"testnet/attack"},
	"cmd/skep-paper":     {"sim/chart", "sim/paper"},
}

// pure packages have no clock, no chance of their own, no goroutines and no files.
var pure = []string{"grid", "lpas", "gossip", "exec", "exec/proportional", "sparse", "heap", "fifo", "discovery", "balance",
	"balance/allocator", "balance/batch", "balance/knapsack", "balance/market", "balance/market/advice", "balance/order", "balance/reallocation", "balance/utility", "balance/waiting", "gang", "gang/mapper", "gang/model", "internal/indices", "node", "node/barrier", "node/budget", "node/coordinator", "node/coordinator/archive", "node/coordinator/bulk", "node/coordinator/callers", "node/coordinator/cancellation", "node/coordinator/candidates", "node/coordinator/live", "node/coordinator/offered", "node/coordinator/packed", "node/coordinator/register", "node/coordinator/retention", "node/coordinator/rounds", "node/coordinator/survey", "node/coordinator/tasks", "node/coordinator/unwanted", "node/coordinator/view", "node/migration",
	"node/coordinator/tuning", "node/deadline", "node/decisions", "node/dependency", "node/deposit", "node/exclusion",
	"node/checkpoint", "node/contract", "node/failures", "node/gangs", "node/history", "node/listing", "node/mapping", "node/membership", "node/ownercache", "node/peers", "node/policies", "node/price", "node/profile", "node/progress", "node/pull", "node/generation", "node/chain", "node/secret", "node/intake", "node/certificate",
	"node/quota", "node/rates", "node/replication", "node/reliability", "node/reputation", "node/reservation", "node/schedule", "node/turns", "node/replication/quorum",
	"node/worker", "sim", "sim/event", "sim/oracle", "sim/chart", "sim/gangs", "sim/screen", "sim/oracle/seats",
	"sim/mesh", "sim/net/worth", "sim/rank", "sim/spread", "sim/stores", "sim/keys", "sim/keeper"}

var impure = []string{"os", "net", "sync", "math/rand", "crypto/rand", "context", "io/fs", "net/http"}

const longest = 250

// apart are parts of a node that do not import each other: they speak by values of package grid.
var apart = []string{"node/coordinator", "node/worker", "node/replication", "node/reputation", "node/rates"}

// Bounds of the node, which only routes events and holds the parts.
const (
	mostNodeFields = 15
	mostNodeLines  = 1200
)

// mostFiles is the number of files of a package, but for its tests; crowded are those that have more so far.
const mostFiles = 30

var crowded = map[string]int{"balance": 40, "cmd/skep": 70, "exec/sandbox": 32, "node/coordinator": 34, "sim": 35, "testnet": 31}

// known are methods whose meaning is the standard library's.
var known = []string{"String", "Error", "Unwrap", "Is", "Len", "Less", "Swap", "Close", "Read", "Write", "Seek"}

type source struct {
	path, pkg string
	lines     int
	file      *ast.File
	text      string
	generated bool
}

func sources(t *testing.T) []source {
	var out []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "tools" || d.Name() == "testdata" ||
			d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || path == "tidy_test.go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, b, parser.ParseComments)
		if err != nil {
			return err
		}
		out = append(out, source{path: path, pkg: filepath.ToSlash(filepath.Dir(path)), lines: strings.Count(string(b), "\n"),
			file: f, text: string(b), generated: ast.IsGenerated(f)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

func TestArrowsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		allowed, listed := floors[s.pkg]
		if !listed {
			t.Errorf("%s: package %s has no floor in the house", s.path, s.pkg)
			continue
		}
		for _, imp := range s.file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			in, ours := strings.CutPrefix(path, "skep/")
			if ours && !s.test() && in != s.pkg && !slices.Contains(allowed, in) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s: want only %v", s.path, path, allowed)
			}
			if !s.test() && slices.Contains(pure, s.pkg) && slices.Contains(impure, path) {
				t.Errorf("%s imports %s: %s is pure", s.path, path, s.pkg)
			}
			if strings.HasPrefix(path, "github.com/libp2p/") && !strings.HasPrefix(s.pkg, "node/p2p") && s.pkg != "cmd/skep" &&
				s.pkg != "internal/hostile" {
				t.Errorf("%s imports %s: only the driver and its attacker know libp2p", s.path, path)
			}
		}
	}
}

// TestPartsStayApart also looks at the floors, so that no later one lets a part in.
func TestPartsStayApart(t *testing.T) {
	for _, a := range apart {
		for _, b := range apart {
			if slices.Contains(floors[a], b) {
				t.Errorf("%s may import %s: want that they do not know each other", a, b)
			}
		}
	}
}

// The node routes events and holds the parts; it has no logic of theirs.
func TestNodeIsSmall(t *testing.T) {
	lines, fields := 0, 0
	for _, s := range sources(t) {
		if s.pkg != "node" || s.test() {
			continue
		}
		lines += s.lines
		ast.Inspect(s.file, func(n ast.Node) bool {
			if ts, ok := n.(*ast.TypeSpec); ok && ts.Name.Name == "Node" {
				fields = ts.Type.(*ast.StructType).Fields.NumFields()
			}
			return true
		})
	}
	if lines > mostNodeLines || fields > mostNodeFields || fields == 0 {
		t.Errorf("node has %d lines and %d fields: want at most %d and %d", lines, fields, mostNodeLines, mostNodeFields)
	}
}

func TestPackagesHaveFewFiles(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		if !s.test() && !s.generated {
			files[s.pkg]++
		}
	}
	for pkg, n := range files {
		if most := max(mostFiles, crowded[pkg]); n > most {
			t.Errorf("%s has %d files: want at most %d", pkg, n, most)
		}
	}
}

func TestPurePackagesStartNothing(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || !slices.Contains(pure, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: starts a goroutine", s.path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" &&
					slices.Contains([]string{"Now", "Sleep", "After", "Since", "NewTimer", "Tick"}, n.Sel.Name) {
					t.Errorf("%s: reads a clock: time.%s", s.path, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// Tests with the race detector leave out only those packages of a node and its drivers that are pure.
func TestRaceIsForWhatIsNotPure(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\\\n", ""), "\nRACE  := ")
	line, _, _ := strings.Cut(rest, "\n")
	raced := func(pkg string) bool {
		return slices.ContainsFunc(strings.Fields(line), func(pattern string) bool {
			tree, all := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return pkg == tree || all && strings.HasPrefix(pkg, tree+"/")
		})
	}
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.pkg, "/")
		if s.test() && slices.Contains([]string{"node", "exec", "cmd"}, top) && raced(s.pkg) == slices.Contains(pure, s.pkg) {
			t.Errorf("%s: pure %v, and in the Makefile's RACE %v", s.pkg, slices.Contains(pure, s.pkg), raced(s.pkg))
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if !s.generated && !s.test() && s.lines > longest {
			t.Errorf("%s has %d lines: want at most %d", s.path, s.lines, longest)
		}
	}
}

// mostColumns bounds a line, in characters. Raw strings (scripts, struct tags) are not broken for it.
const mostColumns = 120

func TestLinesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if s.generated {
			continue
		}
		raw := false
		for i, line := range strings.Split(s.text, "\n") {
			quotes := strings.Count(line, "`")
			if n := utf8.RuneCountInString(line); n > mostColumns && !raw && quotes == 0 {
				t.Errorf("%s:%d has %d columns: want at most %d", s.path, i+1, n, mostColumns)
			}
			raw = raw != (quotes%2 == 1)
		}
	}
}

// mostFields bounds the fields of a struct. Those that exceed it are listed with the number that they have: none grows.
const mostFields = 20

var broad = map[string]int{
	"balance.Config":      22,
	"balance.rates":       21,
	"discovery.Config":    21,
	"exec.Work":           25,
	"gossip.Config":       22,
	"gossip.Gossip":       36,
	"lpas.Workspace":      36,
	"node/api/v1.Job":     23,
	"node/api/v1.Node":    22,
	"sim.World":           23,
	"sim.host":            27,
	"sim/brokers.engine":  29,
	"sim/net.Report":      32,
	"sim/net.sample":      23,
	"sim/queueing.engine": 30,
	"testnet.Report":      29,
}

func TestStructsHaveFewFields(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.generated {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			x, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			fields := 0
			for _, f := range x.Fields.List {
				fields += max(len(f.Names), 1)
			}
			name := s.pkg + "." + spec.Name.Name
			if bound := max(mostFields, broad[name]); fields > bound {
				t.Errorf("%s: %s has %d fields: want at most %d", s.path, name, fields, bound)
			}
			return true
		})
	}
}

func TestPackagesSayWhatTheyAre(t *testing.T) {
	documented := map[string]bool{}
	seen := map[string]bool{}
	for _, s := range sources(t) {
		seen[s.pkg] = true
		if filepath.Base(s.path) == "doc.go" && s.file.Doc != nil {
			documented[s.pkg] = true
		}
		if s.test() || s.generated {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !slices.Contains(known, d.Name.Name) {
					t.Errorf("%s: %s has no comment", s.path, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil &&
						ts.Comment == nil {
						t.Errorf("%s: %s has no comment", s.path, ts.Name.Name)
					}
				}
			}
		}
	}
	for pkg := range seen {
		if !documented[pkg] {
			t.Errorf("%s has no doc.go that says what it does", pkg)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if idx, ok := typ.(*ast.IndexExpr); ok {
		typ = idx.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

func TestNothingIsLeftOver(t *testing.T) {
	for _, s := range sources(t) {
		for _, word := range []string{"TODO", "FIXME", "XXX"} {
			if strings.Contains(s.text, word) {
				t.Errorf("%s: has a %s", s.path, word)
			}
		}
		for _, name := range []string{"util", "common", "manager", "helper"} {
			if strings.Contains(strings.ToLower(filepath.Base(s.path)), name) {
				t.Errorf("%s: a name that says nothing", s.path)
			}
		}
	}
}
