package grid

import (
	"strings"
	"testing"
)

func TestGangRules(t *testing.T) {
	for want, change := range map[string]func(*JobSpec){
		"": func(*JobSpec) {},
		"count 4 with gang.ranks 3: want the same number": func(s *JobSpec) { s.Gang.Ranks = 3 },
		"gang.ranks 1025: want 1 to 1024": func(s *JobSpec) {
			s.Count, s.Gang.Ranks = 1025, 1025
		},
		"idempotent with gang.ranks 4":         func(s *JobSpec) { s.Idempotent = true },
		"on_failure.retry 2 with gang.ranks 4": func(s *JobSpec) { s.Rules.OnFailure.Retry = 2 },
		"max_failures 1 with gang.ranks 4":     func(s *JobSpec) { s.Rules.MaxFailures = 1 },
		"max_running 3 with gang.ranks 4":      func(s *JobSpec) { s.Rules.MaxRunning = 3 },
		`policy "mct" with gang.ranks 4`:       func(s *JobSpec) { s.Policy = "mct" },
		"after_each with gang.ranks 4": func(s *JobSpec) {
			s.After.Jobs = []Dependency{{Job: JobID{Nonce: [10]byte{1}}, Kind: AfterEach}}
		},
		"network gang: want gang.ranks with it, isolation strict, and skep.gang_network": func(s *JobSpec) {
			s.Network = NetworkGang
		},
		"gang.min 4 with gang.max 4: want a smaller min, or ranks: 4": func(s *JobSpec) { s.Gang.Min = 4 },
		"gang.min 2: want skep.gang_size among the labels needed":     func(s *JobSpec) { s.Gang.Min = 2 },
		"gang.ports with network host: want network gang":             func(s *JobSpec) { s.Gang.Ports[0] = 80 },
		"isolation strict, and skep.gang_ports among the labels": func(s *JobSpec) {
			onPorts(s, GangNetworkLabel, 80)
		},
		"gang.ports: port 0: want 1 to 65535": func(s *JobSpec) { onPorts(s, GangPortsLabel, 80, 0, 90) },
		"gang.ports: port 80 after 80: want each once, ascending": func(s *JobSpec) {
			onPorts(s, GangPortsLabel, 80, 80)
		},
		"gang.ports: 5 ports of 1000 ranks: want at most 4096": func(s *JobSpec) {
			s.Count, s.Gang.Ranks = 1000, 1000
			onPorts(s, GangPortsLabel, 1, 2, 3, 4, 5)
		},
		`env "RANK" with gang.ranks 4`: func(s *JobSpec) { s.Env = []Var{{Name: "RANK", Value: "7"}} },
	} {
		s := &JobSpec{Engine: EngineProcess, Command: []string{"x"}, Count: 4, Retries: 1,
			TaskData: TaskData{Gang: Gang{Ranks: 4}},
			Needs:    Needs{Resources: Resources{CPU: CPU}}}
		change(s)
		err := s.Check()
		if want == "" && err != nil {
			t.Errorf("a gang: %v", err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v: want one line with %q", err, want)
		}
	}
}

// onPorts has the ranks reach each other on ports, at nodes with a label.
func onPorts(s *JobSpec, label string, ports ...uint16) {
	s.Network = NetworkGang
	s.Needs.Labels = append(s.Needs.Labels, LabelNeed{IsolationLabel, IsolationStrict.AtLeast()}, FeatureNeed(label))
	copy(s.Gang.Ports[:], ports)
}

func TestGangOnPorts(t *testing.T) {
	s := &JobSpec{Engine: EngineProcess, Command: []string{"x"}, Count: 4, TaskData: TaskData{Gang: Gang{Ranks: 4}},
		Needs: Needs{Resources: Resources{CPU: CPU}}}
	onPorts(s, GangPortsLabel, 80, 90)
	if err := s.Check(); err != nil || !s.MemberFeatures().Has(FeaturePorts) || len(s.Gang.Ports.List()) != 2 {
		t.Errorf("%v, members with %b", err, s.MemberFeatures())
	}
	if s.Gang.Ports = (Ports{}); s.MemberFeatures().Has(FeaturePorts) {
		t.Error("a gang without ports needs members that know them")
	}
}

// Slots counts what fits of every resource.
func TestSlots(t *testing.T) {
	have := Resources{CPU: 4 * CPU, Memory: 3 * GiB, Counts: "gpu=5"}
	for _, c := range []struct {
		need       Resources
		most, want int
	}{
		{Resources{CPU: CPU}, 8, 4},
		{Resources{CPU: CPU}, 3, 3},
		{Resources{CPU: CPU, Memory: 2 * GiB}, 8, 1},
		{Resources{CPU: CPU, Counts: "gpu=2"}, 8, 2},
		{Resources{CPU: CPU, Counts: "fpga=1"}, 8, 0},
	} {
		if n := have.Slots(c.need, c.most); n != c.want {
			t.Errorf("%v in %v: %d, want %d", c.need, have, n, c.want)
		}
	}
}

// Each rank has one place, or none has where they need none.
func TestPlaces(t *testing.T) {
	a, b := NodeID{1}, NodeID{2}
	s := &JobSpec{Network: NetworkGang, TaskData: TaskData{Gang: Gang{Ranks: 3}}}
	good := []RankPlace{{Node: a, Ranks: 2}, {Node: b, Ranks: 1}}
	if err := s.CheckPlaces(Attempt{}, good); err != nil {
		t.Error(err)
	}
	for rank, want := range []NodeID{a, a, b, {}} {
		if got := PlaceOf(good, uint32(rank)); got != want {
			t.Errorf("rank %d: %v, want %v", rank, got, want)
		}
	}
	for _, bad := range [][]RankPlace{nil, {{Node: a, Ranks: 2}}, {{Node: a, Ranks: 2}, {Node: b, Ranks: 2}},
		{{Node: a, Ranks: 3}, {Node: b, Ranks: 0}}, {{Ranks: 3}},
		{{Node: a, Ranks: 1 << 31}, {Node: b, Ranks: 1 << 31}, {Node: a, Ranks: 3}},
		{{Node: a, Ranks: 3, Shares: []uint32{1, 2}}},
		{{Node: a, Ranks: 2, Shares: []uint32{1, 2}}, {Node: b, Ranks: 1}}} {
		if s.CheckPlaces(Attempt{}, bad) == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
	shared := []RankPlace{{Node: a, Ranks: 2, Shares: []uint32{30, 0}}, {Node: b, Ranks: 1, Shares: []uint32{12}}}
	if text := SharesOf(shared); s.CheckPlaces(Attempt{}, shared) != nil || text != "30,0,12" || SharesOf(good) != "" {
		t.Errorf("shares %q, %v", text, s.CheckPlaces(Attempt{}, shared))
	}
	if s.Network = NetworkHost; s.CheckPlaces(Attempt{}, nil) != nil ||
		s.CheckPlaces(Attempt{}, []RankPlace{{Node: a, Ranks: 2}}) == nil {
		t.Error("with the network of the machine: want none, or one for each rank")
	}
}
