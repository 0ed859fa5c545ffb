package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Folder is the name in the data folder of the folder of the files.
const Folder = "audit"

// Bounds of what is kept: the files, of which one is written to, and the bytes of each.
const (
	Files    = 4
	MaxBytes = 4 << 20
	maxLine  = 4 << 10 // of a line; the fields are bounded, so that none is so long
)

// Outcomes of an act.
const (
	Allowed = "allowed" // it was let through; what came of it is in the job
	Refused = "refused"
	Nothing = "nothing to change" // it was let through, and there was nothing to do
)

// Act is one line.
type Act struct {
	Time    time.Time `json:"time"`
	Node    string    `json:"by_node"` // ID of the node that asked: the identity that its connection has proved
	Name    string    `json:"by_name,omitempty"`
	User    string    `json:"by_user,omitempty"` // of that node; of another node as that one says
	Verb    string    `json:"verb"`
	Of      string    `json:"of"` // job or node
	Object  string    `json:"object"`
	Outcome string    `json:"outcome"`

	// More acts of that node, since the line before about it, that have no line of their own; Changes of them changed
	// something. This one is the last of those.
	More    int `json:"more,omitempty"`
	Changes int `json:"more_changes,omitempty"`
}

// Log is the files of a node, which has them open. Safe for concurrent use.
type Log struct {
	dir string

	mu   sync.Mutex
	file *os.File
	size int64
	most int64
}

// Open opens the files in a data folder to append to them.
func Open(data string) (*Log, error) {
	l := &Log{dir: filepath.Join(data, Folder), most: MaxBytes}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return l, nil
}

// name is the path of a file: 0 = that which is written to, 1 = the one before.
func name(dir string, at int) string {
	if at == 0 {
		return filepath.Join(dir, "acts.jsonl")
	}
	return filepath.Join(dir, fmt.Sprintf("acts.%d.jsonl", at))
}

// open opens the file to write to. A last line that a crash has cut short is ended, so that the next one is whole.
func (l *Log) open() error {
	f, err := os.OpenFile(name(l.dir, 0), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
		}
	}
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Append adds a line; durable means that it is on disk when Append returns.
func (l *Log) Append(a *Act, durable bool) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // else a character takes six bytes
	if err := e.Encode(a); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if line.Len() > maxLine {
		return fmt.Errorf("audit: a line of %d bytes: want at most %d", line.Len(), maxLine)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fmt.Errorf("audit: %w", os.ErrClosed)
	}
	if full := l.size + int64(line.Len()); full > l.most {
		if err := l.rotate(); err != nil && full > 2*l.most { // until then the old file does
			return fmt.Errorf("audit: %w", err)
		}
	}
	n, err := l.file.Write(line.Bytes())
	l.size += int64(n)
	if err == nil && durable {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// rotate makes the file one of the former ones, and begins another, which is there before anything is moved.
func (l *Log) rotate() error {
	next := filepath.Join(l.dir, "acts.next.jsonl")
	f, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for at := Files - 1; at > 0; at-- {
		if err := os.Rename(name(l.dir, at-1), name(l.dir, at)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, f.Close())
		}
	}
	if err := os.Rename(next, name(l.dir, 0)); err != nil {
		return errors.Join(err, f.Close())
	}
	old := l.file
	l.file, l.size = f, 0
	return old.Close()
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
