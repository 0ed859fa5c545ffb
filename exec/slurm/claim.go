package slurm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"skep/exec/external"
)

// claim says who has the right to an order's submission: a step, which runs it once, or the node, for which it shall
// never run. The first one who makes the file has it for ever.
type claim struct {
	By    string // byStep or byNode
	Host  string
	Job   string
	Token string // of who made it
	Key   string // of the order; "" in claims of older versions
}

const (
	byStep = "step"
	byNode = "node"
)

// take claims submission k of the order in dir, and returns who has it: the caller, or the one before. It is on disk.
func (c claim) take(dir string, k int) (has claim, own bool, err error) {
	c.Token = rand.Text()
	b, err := json.Marshal(c)
	if err != nil {
		return c, false, err
	}
	written, err := external.Draft(dir, ".claim-*", bytes.NewReader(b), 0o600)
	if err != nil {
		return c, false, fmt.Errorf("claim an order: %w", err)
	}
	defer os.Remove(written)
	path := claimFile(dir, k)
	// on NFS the answer to a link that was made can be lost, and the repeated call fails: who has it says the file
	if err := os.Link(written, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return c, false, fmt.Errorf("claim an order: %w", err)
	}
	if err := external.ReadRecord(path, &has); err != nil {
		return c, false, fmt.Errorf("claim an order: %w", err)
	}
	return has, has.Token == c.Token, external.SyncFolder(dir)
}

// fence claims an order for the node, so that it never runs, and reports whether it has that; else a step has it.
func fence(dir, key string, k int) (never bool, err error) {
	has, _, err := claim{By: byNode, Key: key}.take(dir, k)
	return has.By == byNode, err
}
