package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ErrCannot reports that this machine cannot record: it is not Linux, its kernel is too old, or something forbids
// it.
var ErrCannot = errors.New("cannot record what a process does here")

type kind uint8

const (
	named   kind = iota + 1 // names changed: something was made, renamed or removed
	written                 // data went to off of file
	resized                 // file has size bytes now
	synced                  // file, or the names in a folder, are on disk
	said                    // text was written to stdout
)

// op is a call. Files and folders are numbered in the order of creation; 0 is the folder itself.
type op struct {
	kind    kind
	file    int
	changes []change
	off     int64
	data    []byte
	size    int64
	text    string
}

// change is what a name in a folder refers to from now on; -1 is nothing.
type change struct {
	folder int
	name   string
	file   int
}

func (o *op) String() string {
	switch o.kind {
	case named:
		return fmt.Sprintf("name %v", o.changes)
	case written:
		return fmt.Sprintf("write %d bytes to file %d at %d", len(o.data), o.file, o.off)
	case resized:
		return fmt.Sprintf("resize file %d to %d", o.file, o.size)
	case synced:
		return fmt.Sprintf("sync file %d", o.file)
	}
	return fmt.Sprintf("say %q", o.text)
}

// Journal is the sequence of a program's calls.
type Journal struct {
	ops     []op
	folders []bool // by number: it is one, not a file
}

// Len returns the number of calls.
func (j *Journal) Len() int { return len(j.ops) }

// how decides what becomes of calls that were not synced.
type how struct {
	name   string
	sector int64                // the unit that is written as a whole or not at all
	keep   func(last bool) bool // a name, a sector, a size; last: of the last write
}

func manners(random *rand.Rand) []how {
	coin := func(bool) bool { return random.IntN(2) == 0 }
	return []how{
		{"killed", 1 << 40, func(bool) bool { return true }}, // the process: the machine goes on
		{"all unsynced is lost", 1 << 40, func(bool) bool { return false }},
		{"the last write is torn", 512, func(last bool) bool { return !last || coin(last) }},
		{"sectors are lost", 512, coin},
		{"pages are lost", 4096, coin},
	}
}

// Each calls f with each folder that a crash before the n-th call could have left, for every stride-th n and after
// the last call, below scratch, and with the lines that the program had written to its stdout by then. f may change
// the folder, which is removed after. An error of f ends it, and is wrapped with the crash that it belongs to.
func (j *Journal) Each(scratch string, random *rand.Rand, stride int, f func(dir string, acked []string) error) error {
	for n := 0; ; n = min(n+stride, len(j.ops)) {
		for _, h := range manners(random) {
			dir := filepath.Join(scratch, "crash")
			if err := j.at(n, h).write(dir); err != nil {
				return err
			}
			if err := f(dir, j.acked(n)); err != nil {
				before := "nothing"
				if n > 0 {
					before = j.ops[n-1].String()
				}
				return fmt.Errorf("crash after call %d of %d (%s), %s: %w", n, len(j.ops), before, h.name, err)
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		if n == len(j.ops) {
			return nil
		}
	}
}

func (j *Journal) acked(n int) (lines []string) {
	for i := range j.ops[:n] {
		if j.ops[i].kind == said {
			lines = append(lines, j.ops[i].text)
		}
	}
	return lines
}

// at returns what is on disk after a crash before the n-th call.
func (j *Journal) at(n int, h how) *tree {
	t := &tree{folders: j.folders, names: map[int]map[string]int{}, files: map[int]*content{}}
	safe := make([]bool, n)
	syncs, last := map[int]bool{}, -1
	for i := n - 1; i >= 0; i-- {
		o := &j.ops[i]
		switch o.kind {
		case synced:
			syncs[o.file] = true
		case written, resized:
			safe[i] = syncs[o.file]
			if last < 0 && o.kind == written {
				last = i
			}
		case named:
			for _, c := range o.changes {
				safe[i] = safe[i] || syncs[c.folder]
			}
		}
	}
	for i := range n {
		o := &j.ops[i]
		keep := func() bool { return safe[i] || h.keep(i == last) }
		switch o.kind {
		case named:
			if keep() {
				t.name(o.changes)
			}
		case written:
			t.file(o.file).write(o.off, o.data, h.sector, keep)
		case resized:
			if keep() {
				t.file(o.file).resize(o.size)
			}
		}
	}
	return t
}
