package crash

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tree is a folder as it is on disk.
type tree struct {
	folders []bool
	names   map[int]map[string]int
	files   map[int]*content
}

func (t *tree) name(changes []change) {
	for _, c := range changes {
		if t.names[c.folder] == nil {
			t.names[c.folder] = map[string]int{}
		}
		if c.file < 0 {
			delete(t.names[c.folder], c.name)
		} else {
			t.names[c.folder][c.name] = c.file
		}
	}
}

func (t *tree) file(id int) *content {
	if t.files[id] == nil {
		t.files[id] = &content{pages: map[int64]*[page]byte{}}
	}
	return t.files[id]
}

// write makes the folder.
func (t *tree) write(dir string) error { return t.writeFolder(0, dir) }

func (t *tree) writeFolder(id int, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, file := range t.names[id] {
		path := filepath.Join(dir, name)
		var err error
		if t.folders[file] {
			err = t.writeFolder(file, path)
		} else {
			err = t.file(file).save(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const page = 4096

// content is the content of a file; missing pages are zeros.
type content struct {
	size  int64
	pages map[int64]*[page]byte
}

// write writes those sectors of data for which keep returns true. For the others the size may change, and the
// former content stays.
func (c *content) write(off int64, data []byte, sector int64, keep func() bool) {
	for len(data) > 0 {
		n := min(int64(len(data)), sector-off%sector)
		kept := keep()
		if kept {
			c.put(off, data[:n])
		}
		if kept || keep() {
			c.size = max(c.size, off+n)
		}
		off, data = off+n, data[n:]
	}
}

func (c *content) put(off int64, data []byte) {
	for len(data) > 0 {
		p := c.pages[off/page]
		if p == nil {
			p = new([page]byte)
			c.pages[off/page] = p
		}
		n := copy(p[off%page:], data)
		off, data = off+int64(n), data[n:]
	}
}

func (c *content) resize(size int64) {
	for at, p := range c.pages {
		if from := max(size-at*page, 0); from < page {
			clear(p[from:])
		}
	}
	c.size = size
}

func (c *content) save(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for at, p := range c.pages {
		if n := min(c.size-at*page, page); n > 0 {
			if _, err := f.WriteAt(p[:n], at*page); err != nil {
				return err
			}
		}
	}
	return f.Truncate(c.size)
}

// differs returns an error where dir differs from t. Files are compared by content, folders by their entries.
func (t *tree) differs(dir string) error {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		seen++
		id, ok := t.lookup(dir, path)
		switch {
		case !ok:
			return fmt.Errorf("%s is there, and was not seen to be made", path)
		case t.folders[id] != d.IsDir():
			return fmt.Errorf("%s: a folder %v, recorded as %v", path, d.IsDir(), t.folders[id])
		case d.IsDir():
			return nil
		}
		return t.file(id).differs(path)
	})
	if names := t.count(0); err == nil && seen != names {
		err = fmt.Errorf("%s has %d names, %d were recorded", dir, seen, names)
	}
	return err
}

func (t *tree) lookup(dir, path string) (id int, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return 0, false
	}
	for _, name := range split(rel) {
		if id, ok = t.names[id][name]; !ok {
			return 0, false
		}
	}
	return id, true
}

func split(rel string) []string {
	if rel == "." {
		return nil
	}
	return strings.Split(rel, string(filepath.Separator))
}

func (t *tree) count(folder int) (n int) {
	for _, id := range t.names[folder] {
		n++
		if t.folders[id] {
			n += t.count(id)
		}
	}
	return n
}

func (c *content) differs(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if int64(len(b)) != c.size {
		return fmt.Errorf("%s has %d bytes, %d were recorded", path, len(b), c.size)
	}
	var none [page]byte
	for off := int64(0); off < c.size; off += page {
		p := c.pages[off/page]
		if p == nil {
			p = &none
		}
		if n := min(page, c.size-off); !bytes.Equal(p[:n], b[off:off+n]) {
			return fmt.Errorf("%s is not as it was recorded in the page at %d", path, off)
		}
	}
	return nil
}
