//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hide covers folders that lie in what tasks see: each with all in it is an empty folder there. A folder in a writable
// place is refused (Options.check): whoever can rename what it lies in moves it out of the way of the next zygote.
func (t *tree) hide(hidden []string) error {
	for _, path := range hidden {
		real, err := realPath(path)
		if err != nil {
			return fmt.Errorf("hide %s from tasks: %w", path, err)
		}
		t.hidden = append(t.hidden, real)
		for _, m := range t.mounts {
			source, err := realPath(m.Source)
			if err != nil || !inside(real, source) {
				continue
			}
			t.covers = append(t.covers, filepath.Join(m.Target, strings.TrimPrefix(real, source)))
		}
	}
	slices.Sort(t.covers)
	all := slices.Compact(t.covers)
	t.covers = nil
	for _, path := range all { // below a cover there is nothing left to cover
		if !slices.ContainsFunc(t.covers, func(outer string) bool { return inside(path, outer) }) {
			t.covers = append(t.covers, path)
		}
	}
	return nil
}

// hides reports whether a path without links is in a hidden folder.
func (t *tree) hides(path string) bool {
	return slices.ContainsFunc(t.hidden, func(h string) bool { return inside(path, h) })
}

// known is a file or folder by what it is: another may be at the same path where a task looks.
type known struct {
	Path     string
	Dev, Ino uint64
}

// whatIs tells files and folders of the node for a probe to recognise.
func whatIs(paths []string) (all []known) {
	for _, path := range paths {
		k := known{Path: path}
		if info, err := os.Stat(path); err == nil {
			k.Dev, k.Ino = identity(info)
		}
		all = append(all, k)
	}
	return all
}

// isHere reports whether what is known is what its path leads to here.
func (k *known) isHere() bool {
	info, err := os.Stat(k.Path)
	if err != nil {
		return false
	}
	dev, ino := identity(info)
	return dev == k.Dev && ino == k.Ino
}
