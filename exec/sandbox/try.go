package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"skep/grid"
)

// Try reports the level of the boxes that can be made here by this user, and what is missing for a higher one: what a
// node finds that has its data in the folder dir, or in a default one for temporary files if dir is empty.
func Try(dir string) (level grid.Isolation, findings []Finding, err error) {
	dir, err = os.MkdirTemp(dir, "skep-try-")
	if err != nil {
		return grid.IsolationNone, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := Open(Options{Level: grid.IsolationBasic, Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "box"),
		Hidden: []string{dir}})
	if err != nil {
		return grid.IsolationNone, nil, err
	}
	defer s.Close()
	return s.Level(), s.Findings(), nil
}
