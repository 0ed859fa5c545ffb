package transport

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/wire"
)

// A checked spec does not vouch for another one with the same job's ID.
func TestOtherSpecOfAKnownJobIsChecked(t *testing.T) {
	specs := newSpecCache()
	self, seal := signer(t)
	first, err := seal(jobID(self, 1), rig.Sh("exit 1"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := seal(jobID(self, 1), rig.Sh("exit 22"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*grid.JobSpec{first, second, first, second} {
		got, err := specs.open(jobID(self, 1), []byte(s.Sealed))
		if err != nil || got.Command[2] != s.Command[2] {
			t.Errorf("%+v, %v: want %q", got, err, s.Command)
		}
	}
	if _, err := specs.open(jobID(self, 1), []byte(strings.Replace(first.Sealed, "exit 1", "exit 9", 1))); err == nil {
		t.Error("a spec that the origin did not sign passes, since another of the job has")
	}
	if _, err := specs.open(jobID(self, 2), []byte(first.Sealed)); err == nil {
		t.Error("a spec passes for another job")
	}
	if specs.bytes != len(second.Sealed) {
		t.Errorf("%d bytes are counted: want %d", specs.bytes, len(second.Sealed))
	}
}

// The remembered specs are bounded in bytes.
func TestSpecCacheIsBounded(t *testing.T) {
	specs := newSpecCache()
	self, seal := signer(t)
	spec := rig.Sh("exit 0")
	spec.Env = []grid.Var{{Name: "A", Value: strings.Repeat("x", 30_000)}}
	for i := range 300 {
		id := jobID(self, byte(i))
		id.Nonce[1] = byte(i >> 8)
		s, err := seal(id, spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := specs.open(id, []byte(s.Sealed)); err != nil {
			t.Fatal(err)
		}
		if specs.bytes > maxSpecsBytes {
			t.Fatalf("%d bytes after %d jobs: want at most %d", specs.bytes, i+1, maxSpecsBytes)
		}
	}
	sum := 0
	for _, s := range specs.known.Values() {
		sum += len(s.Sealed)
	}
	if sum != specs.bytes || sum < maxSpecsBytes/2 {
		t.Errorf("%d bytes are kept and %d counted: want the same, and most of %d", sum, specs.bytes, maxSpecsBytes)
	}
}

// signer returns a node and what signs its specs.
func signer(t *testing.T) (grid.NodeID, func(grid.JobID, *grid.JobSpec) (*grid.JobSpec, error)) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	self := grid.NodeID(key[32:])
	return self, func(id grid.JobID, s *grid.JobSpec) (*grid.JobSpec, error) {
		own := *s
		own.Submitter.Node = self
		return wire.SealSpec(key, id, &own)
	}
}

func jobID(self grid.NodeID, nonce byte) grid.JobID {
	return grid.JobID{Origin: self, Nonce: [10]byte{nonce}}
}
