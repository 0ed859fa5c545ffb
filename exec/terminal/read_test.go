//go:build unix

package terminal

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A program that a key has ended may have printed something that the kernel shows only after it has said that all that
// had the terminal open are gone.
func TestLastWordsAreRead(t *testing.T) {
	gone := &os.PathError{Op: "read", Path: "terminal", Err: syscall.EIO}
	for _, c := range []struct {
		name    string
		answers []any // text, or an error
		want    string
	}{
		{"nothing is left", []any{"a", gone, gone}, "a"},
		{"the end is told first", []any{"a", gone, "b", gone, gone}, "ab"},
		{"another error", []any{"a", syscall.EAGAIN}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			for {
				n, err := Read(func() (int, error) {
					next := c.answers[0]
					c.answers = c.answers[1:]
					if err, ok := next.(error); ok {
						return -1, err
					}
					got.WriteString(next.(string))
					return len(next.(string)), nil
				})
				if err != nil {
					break
				}
				if n != 1 {
					t.Errorf("read %d bytes", n)
				}
			}
			if got.String() != c.want || len(c.answers) > 0 {
				t.Errorf("read %q, and %d answers were not asked for: want %q", got.String(), len(c.answers), c.want)
			}
		})
	}
	if _, err := Read(func() (int, error) { return 0, gone }); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
}
