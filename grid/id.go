package grid

import (
	"bytes"
	"cmp"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// NodeID is a node's Ed25519 public key. It is a value: the same on every node, on disk and in a replay.
type NodeID [32]byte

// NodeError is an error of what a node was asked for.
type NodeError struct {
	Node NodeID
	Err  error
}

// Error says which node, and what.
func (e *NodeError) Error() string { return "node " + e.Node.Short() + ": " + e.Err.Error() }

// Unwrap returns what.
func (e *NodeError) Unwrap() error { return e.Err }

// JobID names a job: its origin, and bytes drawn by the submitter, so that a submission repeated after a lost answer is
// the same job.
type JobID struct {
	Origin NodeID
	Nonce  [10]byte
}

// TaskID is one task of a job, counted from 0.
type TaskID struct {
	Job   JobID
	Index uint32
}

// Attempt is the number of an attempt. A takeover of the job raises Epoch, a new attempt raises N; only the highest is
// current, and messages about a lower one are stale. The zero value is "never tried".
type Attempt struct {
	Epoch uint32
	N     uint32
}

// AttemptID is one attempt of one task.
type AttemptID struct {
	Task TaskID
	Attempt
}

// BlobID is the SHA-256 of a blob's content.
type BlobID [32]byte

var idText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// String returns the whole identity, 52 characters.
func (n NodeID) String() string { return idText.EncodeToString(n[:]) }

// Short returns the first 8 characters, enough for people to distinguish the nodes of one grid.
func (n NodeID) Short() string { return n.String()[:8] }

// IsZero reports whether n is the zero identity: no node.
func (n NodeID) IsZero() bool { return n == NodeID{} }

// Compare orders identities bytewise.
func (n NodeID) Compare(m NodeID) int { return bytes.Compare(n[:], m[:]) }

// String returns NONCE-ORIGIN, 16 + 1 + 52 characters.
func (j JobID) String() string { return j.NonceText() + "-" + j.Origin.String() }

// NonceText returns the nonce as text, 16 characters.
func (j JobID) NonceText() string { return idText.EncodeToString(j.Nonce[:]) }

// Short returns the first 8 characters.
func (j JobID) Short() string { return j.NonceText()[:8] }

// Compare orders by origin, then nonce.
func (j JobID) Compare(k JobID) int {
	return cmp.Or(j.Origin.Compare(k.Origin), bytes.Compare(j.Nonce[:], k.Nonce[:]))
}

// String returns JOB/INDEX.
func (t TaskID) String() string {
	return t.Job.String() + "/" + strconv.FormatUint(uint64(t.Index), 10)
}

// Less reports whether a is older than b.
func (a Attempt) Less(b Attempt) bool {
	return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.N < b.N
}

// String returns EPOCH.N.
func (a Attempt) String() string { return fmt.Sprintf("%d.%d", a.Epoch, a.N) }

// String returns JOB/INDEX#EPOCH.N.
func (a AttemptID) String() string { return a.Task.String() + "#" + a.Attempt.String() }

// String returns the hash in hexadecimal.
func (b BlobID) String() string { return hex.EncodeToString(b[:]) }

// IsZero reports whether b names no blob.
func (b BlobID) IsZero() bool { return b == BlobID{} }

// ParseNodeID reads what NodeID.String prints.
func ParseNodeID(s string) (NodeID, error) {
	var n NodeID
	b, err := idText.DecodeString(s)
	if err != nil || len(b) != len(n) {
		return n, fmt.Errorf("node ID %q: want 52 characters of a-z and 2-7", s)
	}
	copy(n[:], b)
	return n, nil
}

// ParseJobID reads what JobID.String prints.
func ParseJobID(s string) (JobID, error) {
	var j JobID
	nonce, origin, ok := strings.Cut(s, "-")
	b, err := idText.DecodeString(nonce)
	if !ok || err != nil || len(b) != len(j.Nonce) {
		return j, fmt.Errorf("job ID %q: want 16 characters, a hyphen and the 52 characters of a node ID", s)
	}
	copy(j.Nonce[:], b)
	if j.Origin, err = ParseNodeID(origin); err != nil {
		return JobID{}, fmt.Errorf("job ID %q: %w", s, err)
	}
	return j, nil
}

// ParseBlobID reads what BlobID.String prints.
func ParseBlobID(s string) (BlobID, error) {
	var id BlobID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return BlobID{}, fmt.Errorf("blob %q: want 64 hexadecimal digits", s)
	}
	copy(id[:], b)
	return id, nil
}
