package prefix

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is the bytes from which on a line is written in parts.
const maxLine = 64 << 10

// Writer writes whole lines, each behind a mark.
type Writer struct {
	w    io.Writer
	mu   *sync.Mutex
	mark string
	line []byte // the beginning of a line
}

// NewWriter writes to w while it holds mu, which all writers of one destination share.
func NewWriter(w io.Writer, mu *sync.Mutex, mark string) *Writer {
	return &Writer{w: w, mu: mu, mark: mark}
}

// Write writes the lines that are complete.
func (p *Writer) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	end := bytes.LastIndexByte(p.line, '\n') + 1
	if end == 0 && len(p.line) < maxLine {
		return len(b), nil
	}
	if end == 0 {
		p.line = append(p.line, '\n')
		end = len(p.line)
	}
	var text bytes.Buffer
	for line := range bytes.Lines(p.line[:end]) {
		text.WriteString(p.mark)
		text.Write(line)
	}
	p.line = append(p.line[:0], p.line[end:]...)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.w.Write(text.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// EndLine ends the last line, if it is not complete.
func (p *Writer) EndLine() {
	if len(p.line) > 0 {
		_, _ = p.Write([]byte{'\n'})
	}
}
