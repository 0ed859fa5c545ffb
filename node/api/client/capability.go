package client

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// CapabilityFolder is the folder, in a data folder, of the capabilities of jobs that were submitted through it
// under access owner: a file for each, named by the job's whole ID, readable by its owner alone. Anybody with the
// file may see the job and cancel it, at any node.
const CapabilityFolder = "jobs"

// Bounds of that folder. A node keeps the last 200,000 tasks of jobs that are over: beyond as many jobs, the oldest
// that were not used for long are of jobs that it has removed. They are pruned several at a time, by one submission
// of 256.
const (
	maxCapabilities = 200_000
	moreAtOnce      = 1000
	unusedFor       = 30 * 24 * time.Hour
)

// ReadCapability reads a capability's file.
func ReadCapability(name string) (c v1.Capability, err error) {
	b, err := os.ReadFile(name)
	if err == nil {
		c, err = v1.ParseCapability(strings.TrimSpace(string(b)))
	}
	var path *fs.PathError
	if errors.As(err, &path) { // the message has its name already
		err = path.Err
	}
	if err != nil {
		err = fmt.Errorf("capability in %s: %w", name, err)
	}
	return c, err
}

// capabilities are those of the jobs that were submitted through a data folder.
type capabilities struct {
	dir  string
	tell func(string) // called with what is removed; may be nil
}

// of returns the capability of a job, if there is one; id is the job's whole ID.
func (k capabilities) of(id string) (*v1.Capability, error) {
	if _, err := grid.ParseJobID(id); err != nil {
		return nil, nil
	}
	name := filepath.Join(k.dir, id)
	c, err := ReadCapability(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	now := time.Now()
	os.Chtimes(name, now, now) // mark it as used
	return &c, err
}

// draw draws the capability of a job that is about to be submitted, and saves it first: a job must not exist that
// nobody can open.
func (k capabilities) draw(id string) (*v1.Capability, error) {
	if _, err := grid.ParseJobID(id); err != nil {
		return nil, err
	}
	if c, err := k.of(id); c != nil || err != nil { // it was submitted before, without an answer
		return c, err
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("capability: %w", err)
	}
	var c v1.Capability
	rand.Read(c[:])
	f, err := os.OpenFile(filepath.Join(k.dir, id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("capability: %w", err)
	}
	_, err = f.WriteString(c.String() + "\n")
	err = cmp.Or(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return nil, fmt.Errorf("capability: %w", err)
	}
	if c[0] == 0 {
		k.prune(maxCapabilities)
	}
	return &c, nil
}

// prune removes the oldest capabilities if there are too many and they were not used for long, and reports it.
// Other files stay.
func (k capabilities) prune(most int) {
	d, err := os.Open(k.dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	if len(names) < most+moreAtOnce {
		return
	}
	type aged struct {
		name string
		at   time.Time
	}
	var files []aged
	for _, name := range names {
		if _, err := grid.ParseJobID(name); err != nil {
			continue
		}
		if info, err := os.Lstat(filepath.Join(k.dir, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, aged{name, info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b aged) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	gone := 0
	for _, f := range files[:max(len(files)-most, 0)] {
		if time.Since(f.at) < unusedFor || os.Remove(filepath.Join(k.dir, f.name)) != nil {
			break
		}
		gone++
	}
	if gone > 0 && k.tell != nil {
		k.tell(fmt.Sprintf("removed the %d oldest of the capabilities in %s, which were not used for %d days: "+
			"want at most %d",
			gone, k.dir, unusedFor/(24*time.Hour), most))
	}
}
