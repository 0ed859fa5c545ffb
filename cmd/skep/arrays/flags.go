package arrays

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"skep/grid"
	"skep/internal/indices"
	v1 "skep/node/api/v1"
)

// Flags are those of an array.
type Flags struct {
	Counted           bool // the number of tasks was given too
	indices, eachLine string
	matrix            []string
}

// Add adds the flags to a verb.
func (f *Flags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&f.indices, "array", "", "a task for each index, which is its SKEP_INDEX, as in "+indices.Grammar)
	fs.StringVar(&f.eachLine, "each-line", "",
		"a task for each line of a file that is not empty, as ${SKEP_LINE}; - is the standard input")
	fs.StringArrayVar(&f.matrix, "matrix", nil,
		"NAME=VALUE,VALUE: a task for each value, as ${NAME}; again for each combination with another variable")
}

// Apply adds the array to a spec; nil if the flags say nothing. Lines are read from a file in the current folder or
// from stdin. All problems are reported, each with its flag.
func (f *Flags) Apply(spec *v1.Spec, stdin io.Reader) (*Values, error) {
	if f.indices == "" && f.eachLine == "" && len(f.matrix) == 0 {
		return nil, nil
	}
	var problems []error
	note := func(flag string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("--%s %w", flag, err))
		}
	}
	if f.Counted {
		note("count", errors.New("with an array, which says how many tasks there are: want one of them"))
	}
	if f.indices != "" {
		_, err := indices.Parse(f.indices, grid.MaxCount)
		note("array", err)
	}
	var lines []string
	if f.eachLine != "" {
		var err error
		lines, err = ReadLines(f.eachLine, ".", stdin)
		note("each-line", err)
	}
	var matrix []v1.Variable
	for _, text := range f.matrix {
		v, err := ParseVariable(text)
		note("matrix", err)
		matrix = append(matrix, v)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return Apply(spec, f.indices, lines, matrix), nil
}

// ReadLines reads the lines of a file, whose relative path is one below dir; - is stdin.
func ReadLines(name, dir string, stdin io.Reader) ([]string, error) {
	if name != "-" {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		f, err := os.Open(path)
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, err)
		}
		defer f.Close()
		stdin = f
	}
	lines, err := Lines(stdin)
	if err != nil {
		return nil, fmt.Errorf("%.80q: %w", name, err)
	}
	return lines, nil
}
