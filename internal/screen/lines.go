package screen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lines is the screen of programs that print lines, and may draw the last ones again.
type Lines struct {
	columns int
	rows    [][]rune
	row     int
	column  int
	rest    []byte // of a rune or sequence that is not complete
	faults  []string
}

// NewLines returns an empty screen.
func NewLines(columns int) *Lines { return &Lines{columns: columns, rows: make([][]rune, 1)} }

// Write takes what a program has written to the terminal.
func (s *Lines) Write(b []byte) (int, error) {
	s.rest = append(s.rest, b...)
	for len(s.rest) > 0 {
		n := s.next(s.rest)
		if n == 0 {
			break
		}
		s.rest = s.rest[n:]
	}
	return len(b), nil
}

// Faults lists what the program should not have written.
func (s *Lines) Faults() []string { return s.faults }

// Text is what stands on the screen, without spaces at the ends of lines and empty lines at its end.
func (s *Lines) Text() string {
	var b strings.Builder
	for _, row := range s.rows {
		fmt.Fprintln(&b, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (s *Lines) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// next takes a rune or a sequence and returns its bytes; 0 = it is not complete.
func (s *Lines) next(b []byte) int {
	switch b[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		if s.row++; s.row == len(s.rows) {
			s.rows = append(s.rows, nil)
		}
		return 1
	case 0x1b:
		return s.sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if r < ' ' {
		s.fault("control %q", r)
		return n
	}
	if s.column == s.columns { // the line is continued on the next one
		s.column = 0
		s.next([]byte("\n"))
	}
	for len(s.rows[s.row]) <= s.column {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	s.rows[s.row][s.column] = r
	s.column++
	return n
}

func (s *Lines) sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		s.fault("sequence %q", b[:2])
		return 2
	}
	end := 2
	for end < len(b) && strings.IndexByte("0123456789;?", b[end]) >= 0 {
		end++
	}
	if end == len(b) {
		return 0
	}
	n, _ := strconv.Atoi(string(b[2:end]))
	switch line := &s.rows[s.row]; {
	case b[end] == 'A':
		s.row = max(s.row-max(n, 1), 0)
	case b[end] == 'K' && n == 0:
		*line = (*line)[:min(s.column, len(*line))]
	case b[end] == 'J' && n == 0 && s.column == 0: // the line itself, and what is below it
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = nil
	default:
		s.fault("sequence %q at column %d", b[:end+1], s.column)
	}
	return end + 1
}

// Resize changes how many columns there are; what stands there stays.
func (s *Lines) Resize(columns, _ int) { s.columns = columns }

// Altered reports nothing: what would alter more than lines is a fault.
func (s *Lines) Altered() bool { return false }
