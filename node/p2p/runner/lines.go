package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"skep/grid"
)

// lineFile is a file of lines: the tasks of an array come one after the other, each wants one line of the same file,
// and to read a file is to check its hash. It holds grid.MaxLines bytes at most, and 4 bytes for each line.
type lineFile struct {
	id   grid.BlobID
	text []byte
	ends []uint32 // of each line, where its end begins
}

// readLines takes a file in.
func readLines(id grid.BlobID, r io.Reader) (*lineFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(grid.MaxLines)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > int(grid.MaxLines) {
		return nil, fmt.Errorf("has more than %d bytes", int64(grid.MaxLines))
	}
	l := &lineFile{id: id, text: text}
	for from := 0; from < len(text); {
		end := bytes.IndexByte(text[from:], '\n')
		if end < 0 {
			end = len(text) - from
		}
		l.ends = append(l.ends, uint32(from+end))
		from += end + 1
	}
	return l, nil
}

// line returns a line, from 0, without its end.
func (l *lineFile) line(at int) (string, error) {
	if at < 0 || at >= len(l.ends) {
		return "", fmt.Errorf("there is no line %d", at+1)
	}
	from := 0
	if at > 0 {
		from = int(l.ends[at-1]) + 1
	}
	line := bytes.TrimSuffix(l.text[from:l.ends[at]], []byte("\r"))
	if len(line) > int(grid.MaxValue) {
		return "", fmt.Errorf("line %d has %d bytes: want at most %d", at+1, len(line), grid.MaxValue)
	}
	return string(line), nil
}

// line returns a line of an input, and keeps the file that was read last.
func (r *Runner) line(ctx context.Context, in *grid.File, origin grid.NodeID, at int) (string, error) {
	if l := r.lines.Load(); l != nil && l.id == in.Blob {
		return l.line(at)
	}
	f, err := r.OpenBlob(ctx, origin, in, nil)
	if err != nil {
		return "", err
	}
	defer f.Close()
	l, err := readLines(in.Blob, f)
	if err != nil {
		return "", err
	}
	r.lines.Store(l)
	return l.line(at)
}
