package wire

import (
	"crypto/ed25519"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/internal/indices"
)

// Fixed values, one of each type, for golden bytes, fuzz seeds and benchmarks.

func exampleAd(key ed25519.PrivateKey) *grid.Ad {
	return &grid.Ad{Node: nodeOf(key), Seq: grid.Seq{Boot: 3, N: 17}, Name: "lab-7",
		Capacity: grid.Resources{CPU: 8000, Memory: 16 * grid.GiB}, Free: grid.Resources{CPU: 2500, Memory: grid.GiB},
		Backlog: 1500 * time.Millisecond, Speed: 1.25, Availability: 0.99,
		Labels:  []grid.Label{{Key: "arch", Value: "amd64"}, {Key: "os", Value: "linux"}, {Key: "zone", Value: "a"}},
		Engines: []string{grid.EngineProcess}, Rates: exampleRates(),
		Addrs: []string{"/ip4/192.0.2.7/tcp/4001", "/ip6/2001:db8::7/tcp/4001"}, Draining: true}
}

func exampleRates() []grid.Rate {
	return []grid.Rate{{Class: "other", Alpha: 0.5}, {Class: "process:sim", Alpha: 2, Mu: 0.75}}
}

func exampleJob() grid.JobID {
	j := grid.JobID{Origin: nodeOf(testKey(1))}
	copy(j.Nonce[:], "0123456789")
	return j
}

func exampleAttempt(index uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: exampleJob(), Index: index}, Attempt: grid.Attempt{N: 2}}
}

func exampleSpec() *grid.JobSpec {
	return &grid.JobSpec{Name: "sweep", Class: "lattice", Engine: grid.EngineProcess,
		Command: []string{"./simulate", "--seed", "\xff"},
		Count:   100, Needs: grid.Needs{Resources: grid.Resources{CPU: 1000, Memory: 256 * grid.MiB},
			Labels: []grid.LabelNeed{{Key: "os", Values: []string{"linux", "darwin"}}}},
		Inputs:  []grid.File{{Path: "simulate", Blob: grid.BlobID{1, 2}, Size: 4711, Exec: true}},
		Outputs: []string{"out/*.csv"}, Env: []grid.Var{{Name: "MODE", Value: "fast"}},
		Timeout: 10 * time.Minute, Retries: 2, Policy: "mct", Wait: true}
}

// exampleArray has every kind of value.
func exampleArray() *grid.JobSpec {
	s := exampleSpec()
	s.Submitter.Node = exampleJob().Origin
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.ArrayLabel))
	s.Inputs = append(s.Inputs, grid.File{Path: "lines", Blob: grid.BlobID{3}, Size: 40},
		grid.File{Path: "a.toml", Blob: grid.BlobID{4}, Size: 7})
	s.Array = &grid.Array{Axes: []grid.Axis{
		{Name: grid.IndexVariable, Indices: indices.Set{{First: 0, Last: 8, Step: 2}}},
		{Name: grid.LineVariable, Lines: "lines", Count: 10},
		{Name: "model", Values: []string{"a", ""}}},
		Inputs: []grid.TaskInput{{Input: 2, Axis: 2, Value: 1}}}
	return s
}

// exampleSealed is the example's spec as the example's origin signed it.
func exampleSealed(t testing.TB) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Submitter = grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	s.Capability = grid.CapabilityHash{7, 31: 9}
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// exampleStdin is a sealed spec of a job whose tasks read an input as their standard input.
func exampleStdin(t testing.TB) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Stdin, s.Submitter = grid.StdinInput, grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.StdinLabel))
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// exampleCounted is a sealed spec of a job whose tasks need GPUs and processors of their own.
func exampleCounted(t testing.TB) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Submitter = grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	s.Needs.Counts, s.Needs.Pin = "fpga=1,gpu=2", true
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.ResourceLabel), grid.FeatureNeed(grid.PinLabel))
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// exampleTerminal is a sealed spec of a job whose task has a terminal.
func exampleTerminal(t testing.TB) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Count, s.Retries, s.Rules = 1, 0, grid.Rules{}
	s.Submitter = grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	s.Stdin, s.Terminal = grid.StdinStream, grid.Terminal{On: true, Rows: 24, Cols: 80}
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.StdinLabel), grid.FeatureNeed(grid.TerminalLabel))
	s.AddFolders(grid.Folders{Work: "/scratch/ada", Home: "/home/ada"})
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// exampleAfter is a sealed spec of a job that waits for others and reads their files.
func exampleAfter(t testing.TB) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Submitter = grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	other := exampleJob()
	other.Nonce[0]++
	s.After = grid.After{Jobs: []grid.Dependency{{Job: exampleJob(), Kind: grid.AfterOK,
		Members: []grid.NodeID{nodeOf(testKey(1)), nodeOf(testKey(2)), nodeOf(testKey(3))}},
		{Job: other, Kind: grid.AfterEach}},
		Inputs: []grid.JobInput{{Of: 0, Task: 3, Path: "out/m", To: "in/m"}, {Of: 1, Path: "x", To: "x"}}}
	s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.JobInputsLabel))
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func exampleResult() *grid.Result {
	return &grid.Result{Cause: grid.Signaled, Exit: 137, Error: "killed", Waited: time.Second, Wall: 2 * time.Second,
		CPU: 3 * time.Second, MaxRSS: 5 * grid.MiB, Stdout: grid.Output{Inline: []byte("hi\n"), Size: 3},
		Stderr:  grid.Output{Blob: grid.BlobID{9}, Size: 1 << 20, Dropped: 7},
		Outputs: []grid.File{{Path: "out/a.csv", Blob: grid.BlobID{8}, Size: 12}}}
}

func exampleMessage(t testing.TB, k grid.Kind, m *grid.Message) {
	m.Reset(k)
	find := grid.Find{ID: 99, Asker: nodeOf(testKey(2)), Needs: exampleSpec().Needs, Engine: grid.EngineProcess, Left: 5,
		Hops:   2,
		Within: 4 * time.Second, Visited: []grid.NodeID{nodeOf(testKey(3)), nodeOf(testKey(4))}}
	ad := exampleAd(testKey(1))
	var err error
	if ad.Sealed, err = Seal(testKey(1), ad); err != nil {
		t.Fatal(err)
	}
	switch k {
	case grid.KindDigest, grid.KindBye:
		m.Digest = append(m.Digest, grid.AdEntry{Ad: ad, Hops: 3})
	case grid.KindPoll:
		m.Poll = grid.Poll{ID: 0x0102030405060708, Class: "process:sim", Needs: grid.Resources{CPU: 1000, Memory: grid.MiB},
			Rates: exampleRates(), Speed: 1.5, Cores: 8000, Mine: 4, Have: 300}
	case grid.KindState:
		m.State = grid.State{ID: 0x0102030405060708, ECT: time.Second, Backlog: time.Millisecond,
			Free: grid.Resources{CPU: 500, Memory: grid.MiB}, Why: grid.WhyQueue, Rates: exampleRates(), Speed: 2, Cores: 4000,
			Mine: 1, Have: 2}
	case grid.KindOffer:
		m.Offer = grid.Offer{ID: exampleAttempt(7), Spec: exampleSpec(), Class: "lattice", Lease: 30 * time.Second,
			Age: time.Minute}
	case grid.KindAccept, grid.KindResultAck, grid.KindVacate:
		m.Attempts = append(m.Attempts, exampleAttempt(1))
	case grid.KindRefuse, grid.KindDepositAck:
		m.Attempts = append(m.Attempts, exampleAttempt(1))
		m.Refusal = grid.Refusal{Why: grid.WhyLabel, Detail: "os"}
	case grid.KindBeat, grid.KindDrop, grid.KindAsk:
		m.Attempts = append(m.Attempts, exampleAttempt(1), exampleAttempt(70000),
			grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}})
	case grid.KindResult, grid.KindDeposit:
		m.Attempts = append(m.Attempts, exampleAttempt(1))
		m.Result = exampleResult()
	case grid.KindWrite, grid.KindVote:
		m.Register = grid.RegisterMessage{Job: exampleJob(), Epoch: 2, Seq: 9, Spec: exampleSpec(),
			Members: []grid.NodeID{nodeOf(testKey(1)), nodeOf(testKey(2)), nodeOf(testKey(3))},
			Age:     time.Minute, Done: true, Next: 4, More: true,
			Entries: []grid.Entry{{Index: 100}, {Index: 3, Epoch: 1, Attempt: grid.Attempt{Epoch: 1, N: 2},
				Worker: nodeOf(testKey(4)), Lost: 1, Result: exampleResult(), Placed: 30, Began: 20, Done: 10}, exampleFailed()}}
	case grid.KindWriteAck, grid.KindCampaign:
		m.Register = grid.RegisterMessage{Job: exampleJob(), Epoch: 2, Seq: 9, Answer: grid.RegisterHigher,
			Owner: nodeOf(testKey(2))}
	case grid.KindKeepalive, grid.KindKeepaliveAck, grid.KindTakeover:
		m.Register = grid.RegisterMessage{Seq: 7, Answer: grid.RegisterOK, Count: 3, Sum: 1 << 63, More: true}
		m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: exampleJob()}, Attempt: grid.Attempt{Epoch: 2}})
	case grid.KindStartLease, grid.KindStartLeaseAck:
		m.Register.Seq = 1<<40 | 7
		m.Attempts = append(m.Attempts, exampleAttempt(1), exampleAttempt(2))
	case grid.KindAwait:
		m.Register = grid.RegisterMessage{Job: exampleJob(), Seq: 1<<32 | 3, Next: 7, More: true,
			Entries: []grid.Entry{{Index: 0}, {Index: 9}}}
	case grid.KindAwaited:
		m.Register = grid.RegisterMessage{Job: exampleJob(), Seq: 1<<32 | 3, Answer: grid.RegisterOK,
			Owner: nodeOf(testKey(2)), Done: true, Count: 10, Next: 9, More: true,
			Entries: []grid.Entry{{Index: 3, Result: exampleResult()}}}
	case grid.KindReserve:
		m.Reserve = &grid.Reserve{Job: exampleJob(), Attempt: grid.Attempt{Epoch: 1, N: 3}, Round: 4, Ranks: 2,
			Needs: grid.Resources{CPU: 1500, Memory: grid.GiB}, TTL: 10 * time.Second, Age: time.Minute, Later: true}
	case grid.KindReserveAck:
		m.Reserve = &grid.Reserve{Job: exampleJob(), Attempt: grid.Attempt{Epoch: 1, N: 3}, Round: 4, Ranks: 1,
			Refusal: grid.Refusal{Why: grid.WhyReserved, Detail: "for a day"}, Holder: exampleJob()}
	case grid.KindCheckpoint:
		m.Attempts = append(m.Attempts, exampleAttempt(3))
		m.Checkpoint = &grid.Checkpoint{Step: 20, Closed: []uint64{20, 30}, Files: exampleSpec().Inputs}
	case grid.KindCheckpointAck:
		m.Attempts = append(m.Attempts, exampleAttempt(3))
		m.Checkpoint = &grid.Checkpoint{Step: 30, Usable: 20}
	case grid.KindCheckpointKeep:
		m.Attempts = append(m.Attempts, exampleAttempt(3))
		m.Checkpoint = &grid.Checkpoint{Step: 30, Kept: true, Refusal: grid.Refusal{Why: grid.WhyRoom, Detail: "full"}}
	case grid.KindWaiting, grid.KindNoWork:
	case grid.KindPull:
		m.Poll.Needs = grid.Resources{CPU: 1500, Memory: grid.GiB}
	case grid.KindHit:
		m.Find = find
		m.Digest = append(m.Digest, grid.AdEntry{Ad: ad, Hops: 1})
	case grid.KindFind, grid.KindMiss, grid.KindCall:
		m.Find = find
	default:
		t.Fatalf("no example of %v", k)
	}
}

func example(t testing.TB, k grid.Kind) []byte {
	var m grid.Message
	exampleMessage(t, k, &m)
	return bytesOf(t, &m)
}

func bytesOf(t testing.TB, m *grid.Message) []byte {
	var c Codec
	b, err := c.Append(nil, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exampleFailed is the entry of a task that has failed twice and is run again.
func exampleFailed() grid.Entry {
	return grid.Entry{Index: 5, Epoch: 2, Attempt: grid.Attempt{Epoch: 2, N: 4}, Worker: nodeOf(testKey(4)),
		Result: &grid.Result{Cause: grid.Exited, Exit: 75, LastLine: "busy"}, Placed: 30, Began: 20, Done: 10,
		Round: 1, Again: 20 * time.Second, Failures: []grid.Failure{{Attempt: grid.Attempt{Epoch: 2, N: 3},
			Worker: nodeOf(testKey(3)), Cause: grid.Exited, Exit: 1, Line: "refused", Done: 40}}}
}

func exampleRecords() []grid.Record {
	a, failed := exampleAttempt(7), exampleFailed()
	open := &failed
	return []grid.Record{
		{Kind: grid.RecWork, Work: grid.WorkRecord{ID: a, Spec: exampleSpec(), Class: "lattice", Lease: time.Minute,
			State: grid.WorkRunning}},
		{Kind: grid.RecRegister, Register: grid.RegisterRecord{ID: exampleJob(), Spec: exampleSpec(),
			Members:   []grid.NodeID{nodeOf(testKey(1)), nodeOf(testKey(2)), nodeOf(testKey(3))},
			Submitted: 5, Promised: 3, VotedFor: nodeOf(testKey(3)), Epoch: 2, Owner: nodeOf(testKey(2)), Done: true}},
		{Kind: grid.RecEntry, Entry: grid.EntryRecord{TaskRecord: grid.TaskRecord{ID: a, State: grid.Ended,
			Worker: nodeOf(testKey(5)), Lost: 1, Result: exampleResult(),
			Placed: 11, Began: 12, Done: 13}, Epoch: 2, Committed: true}},
		{Kind: grid.RecEntry, Entry: grid.EntryRecord{TaskRecord: grid.TaskRecord{ID: a, State: grid.Placed,
			Worker: nodeOf(testKey(5))}, Committed: true, Open: open, Round: 2}},
		{Kind: grid.RecCheckpoint, Checkpoint: &grid.CheckpointRecord{ID: a, Step: 20, Files: exampleSpec().Inputs}},
		{Kind: grid.RecTombstone, Tombstone: grid.TombstoneRecord{ID: exampleJob(), Epoch: 2, Tasks: 12, Cancelled: true,
			Members: [8]byte{1, 2, 3}, Ended: 13}},
		{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "process:sim", Mean: 1.5, Count: 20}},
	}
}

func exampleToken() Token {
	return Token{Secret: [32]byte{1, 2, 3, 31: 32}, Network: "lab", Addrs: []string{
		"/ip4/192.0.2.7/tcp/4001/p2p/12D3KooWGRUHuzJZTYRvGFmW2hU8AoLWNUMMxqgkbsU2uXqbW1yU",
		"/dns4/grid.example/tcp/4001/p2p/12D3KooWGRUHuzJZTYRvGFmW2hU8AoLWNUMMxqgkbsU2uXqbW1yU"}}
}

func encoded(t testing.TB, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// frame encodes a body, whatever this package's own bounds.
func frame(t testing.TB, k grid.Kind, body proto.Message) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(k), protowire.BytesType), encoded(t, body))
}
