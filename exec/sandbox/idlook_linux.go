//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// idLooked is how many entries of shared places are looked at; changed by tests.
var idLooked = 2_000_000

// errFull is why nobody knows what IDs have files in shared places.
var errFull = errors.New("too many files to look at")

// look frees the IDs of which nothing is left. Others are taken and released meanwhile.
func (i *ids) look() error {
	i.mu.Lock()
	var candidates []uint32
	for id, s := range i.state {
		if s == idLeft {
			candidates = append(candidates, id)
		}
	}
	places := i.shared
	i.mu.Unlock()
	seen := make(map[uint32]bool)
	if err := running(seen); err != nil {
		return fmt.Errorf("look for processes of tasks: %w", err)
	}
	left := idLooked
	for _, place := range places {
		err := filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if left--; left < 0 {
				return errFull
			}
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					seen[st.Uid] = true
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for files of tasks in %s: %w", place, err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, id := range candidates { // nobody takes one before it is freed
		if !seen[id] {
			delete(i.state, id)
		}
	}
	return nil
}

// running notes the users of all processes. The owner of a folder in /proc is root's for those that are not dumpable.
func running(seen map[uint32]bool) error {
	entries, err := os.ReadDir("/proc")
	for _, d := range entries {
		if _, e := strconv.Atoi(d.Name()); e != nil {
			continue
		}
		status, e := os.ReadFile(filepath.Join("/proc", d.Name(), "status"))
		if e != nil {
			continue
		}
		_, after, _ := strings.Cut(string(status), "\nUid:")
		line, _, _ := strings.Cut(after, "\n")
		for field := range strings.FieldsSeq(line) { // real, effective, saved, of the file system
			if id, e := strconv.ParseUint(field, 10, 32); e == nil {
				seen[uint32(id)] = true
			}
		}
	}
	return err
}
