package outputs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// maxWalk bounds the entries of a work folder that are searched for outputs.
const maxWalk = 100_000

// maxDepth bounds how deep folders are nested that are searched: each is opened by its whole path.
const maxDepth = 128

// Match returns the paths of the regular files that match one of the patterns, ordered. Folders that the task has
// closed to others, or that are gone, are passed over; one that cannot be read for another reason is an error, and
// the rest is looked at.
func Match(root *os.Root, patterns []string) (names []string, err error) {
	split := make([][]string, len(patterns))
	for i, p := range patterns {
		split[i] = strings.Split(path.Clean(p), "/")
	}
	seen, deep := 0, false
	var unread error
	for folders := []string{"."}; len(folders) > 0; {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		f, err := root.Open(folder)
		if err != nil {
			unread = cmp.Or(unread, unreadable(err))
			continue
		}
		for {
			entries, err := f.ReadDir(1024)
			for _, d := range entries {
				name := path.Join(folder, d.Name())
				if d.IsDir() && strings.Count(name, "/") >= maxDepth {
					deep = true
				} else if d.IsDir() {
					folders = append(folders, name)
				} else if d.Type().IsRegular() && matchAny(split, strings.Split(name, "/")) {
					names = append(names, name)
				}
			}
			seen += len(entries)
			if err != nil || seen > maxWalk {
				unread = cmp.Or(unread, unreadable(err))
				break
			}
		}
		f.Close()
		if seen > maxWalk {
			err = fmt.Errorf("outputs: the work folder has more than %d entries: the rest was not looked at", maxWalk)
			slices.Sort(names)
			return names, errors.Join(unread, err)
		}
	}
	slices.Sort(names)
	if deep {
		err = fmt.Errorf("outputs: folders are nested more than %d deep: what is deeper was not looked at", maxDepth)
	}
	return names, errors.Join(unread, err)
}

// unreadable is the error of a folder that could not be read, if that is neither its end nor the task's doing.
func unreadable(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return nil
	}
	return fmt.Errorf("outputs: %w", err)
}

func matchAny(patterns [][]string, name []string) bool {
	return slices.ContainsFunc(patterns, func(p []string) bool { return match(p, name) })
}

// match is path.Match element by element; in addition, an element ** matches any number of elements, none included,
// and a pattern that matches a folder matches all in it. A mismatch backtracks to the last ** only, which is
// enough, so the time is bounded by the product of the lengths.
func match(pattern, name []string) bool {
	p, n := 0, 0
	star, from := -1, 0 // the last **, and the first element of name that it may still take
	for p < len(pattern) {
		switch {
		case pattern[p] == "**":
			star, from = p, n
			p++
			continue
		case n < len(name):
			if ok, err := path.Match(pattern[p], name[n]); ok && err == nil {
				p++
				n++
				continue
			}
		}
		if star < 0 || from >= len(name) {
			return false
		}
		from++
		p, n = star+1, from
	}
	return true // the rest of name is inside a folder that the pattern names
}
