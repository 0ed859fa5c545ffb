package generation

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"

	"skep/grid"
)

// Statement is what a process of a node says of itself: what it has saved is on disk.
type Statement struct {
	Boot     uint64 // how many times the node had started
	Instance uint64 // drawn at random at that start
	Saved    uint64 // number of its newest commit; higher for each one, over all starts
}

// Size is the number of bytes of a signed statement.
const Size = contentSize + ed25519.SignatureSize

const contentSize = 3 * 8

// purpose keeps the signature from being taken for one of something else.
const purpose = "skep generation 1\x00"

// Sign returns a statement signed with the node's key.
func (s *Statement) Sign(key ed25519.PrivateKey) []byte {
	b := make([]byte, 0, Size)
	for _, x := range []uint64{s.Boot, s.Instance, s.Saved} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return append(b, ed25519.Sign(key, append([]byte(purpose), b...))...)
}

// Open returns a statement that a node has signed; false if it has not.
func Open(by grid.NodeID, signed []byte) (Statement, bool) {
	s, ok := read(signed)
	if !ok || !ed25519.Verify(by[:], append([]byte(purpose), signed[:contentSize]...), signed[contentSize:]) {
		return Statement{}, false
	}
	return s, true
}

// read returns what a statement says, whoever has signed it.
func read(signed []byte) (s Statement, ok bool) {
	if len(signed) != Size {
		return s, false
	}
	word := func(i int) uint64 { return binary.BigEndian.Uint64(signed[8*i:]) }
	return Statement{Boot: word(0), Instance: word(1), Saved: word(2)}, true
}

// after reports whether a statement tells of more than another one.
func (s *Statement) after(o *Statement) bool {
	return s.Boot > o.Boot || s.Boot == o.Boot && s.Saved > o.Saved
}

// Start is what a process found when it started.
type Start struct {
	Boot     uint64 // starts on disk, this one included
	Instance uint64
	Saved    uint64 // number of the last commit that was on disk before this start
}

// Verdict is what a statement of the node itself, that another one has kept, says about its data folder.
type Verdict uint8

// Verdicts.
const (
	Earlier Verdict = iota // of this process, or of an earlier one whose commits are all on disk
	PutBack                // the folder lacks what an earlier process has saved
	Copied                 // another process has the identity, or had it since this one began
)

// String returns the verdict in a word.
func (v Verdict) String() string { return [...]string{"earlier", "put back", "copied"}[v] }

// margin is the part of its time that the clocks of two nodes may differ by, and more.
const margin = 0.1

// Check judges a statement of this node that was heard age ago by whoever kept it, when this process has run for up and
// has saved so much. What a process has saved only grows, and it states nothing before that is on disk: one that has
// saved less than it has stated was put back in memory, with its machine.
// A process counts its start on disk before it says anything. So the number of starts in a statement of an earlier one
// is below that of this start, and its commits are among those found, unless the disk has forgotten some.
// What another one heard since this process began is not of an earlier process but of a copy.
func (s *Start) Check(st Statement, age, up time.Duration, saved uint64) Verdict {
	own := st.Boot == s.Boot && st.Instance == s.Instance
	switch {
	case own && st.Saved <= saved, st.Boot < s.Boot && st.Saved <= s.Saved:
		return Earlier
	case !own && float64(age) < (1-margin)*float64(up):
		return Copied
	}
	return PutBack
}
