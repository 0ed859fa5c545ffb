package order

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"

	"skep/document"
	"skep/grid"
)

// Refs are the jobs that a job waits for, as a person names them, and the files of them that it reads.
type Refs struct {
	After, OK []string
	Each      string
	Inputs    []Input
	texts     []string // of the flag
}

// Input is a file that a task of another job has left.
type Input struct {
	Job, Path, To string
	Task          uint32
}

// AddFlags adds the flags.
func (r *Refs) AddFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&r.After, "after", nil,
		"start when this JOB has ended, however: an ID, last or a name; again for others")
	fl.StringSliceVar(&r.OK, "after-ok", nil,
		"start when all tasks of this JOB have ended well, else cancel; again for others")
	fl.StringVar(&r.Each, "after-each", "", "start task i when task i of this JOB, which has as many, has ended well")
	fl.StringArrayVar(&r.texts, "job-input", nil, "JOB[/TASK]:PATH[=NAME] of a file that the task of a job has left")
}

// Parse reads the values of the flag --job-input. A job that they name and no other flag does is waited for as with
// --after-ok.
func (r *Refs) Parse() error {
	var problems []error
	for _, text := range r.texts {
		job, file, ok := strings.Cut(text, ":")
		in := Input{Job: job, Path: file}
		if at := strings.LastIndexByte(file, '='); at >= 0 {
			in.Path, in.To = file[:at], file[at+1:]
		}
		if ref, index, has := strings.Cut(job, "/"); has {
			n, err := strconv.ParseUint(index, 10, 32)
			ok = ok && err == nil && n < grid.MaxCount
			in.Job, in.Task = ref, uint32(n)
		}
		if !ok || in.Job == "" || in.Path == "" {
			problems = append(problems, fmt.Errorf("--job-input %.80q: want JOB[/TASK]:PATH[=NAME], as in last:out/model.bin",
				text))
			continue
		}
		r.Inputs = append(r.Inputs, in)
	}
	r.texts = nil
	return errors.Join(problems...)
}

// Add adds the jobs of other flags or keys.
func (r *Refs) Add(o *Refs) error {
	if r.Each != "" && o.Each != "" {
		return fmt.Errorf("after_each %.80q: the file says %.80q: want one of them", o.Each, r.Each)
	}
	if o.Each != "" {
		r.Each = o.Each
	}
	r.After, r.OK, r.Inputs = append(r.After, o.After...), append(r.OK, o.OK...), append(r.Inputs, o.Inputs...)
	return nil
}

// Names lists the jobs, each once, in the order of the keys.
func (r *Refs) Names() (names []string) {
	for _, list := range [...][]string{r.After, r.OK, {r.Each}} {
		names = append(names, list...)
	}
	for _, in := range r.Inputs {
		names = append(names, in.Job)
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}

// Field reads a key of a job file, and reports whether it is one of these.
func (r *Refs) Field(f *document.Reader, e document.Entry) bool {
	switch e.Key {
	case "after":
		r.After = f.Texts(e.Value, e.Key)
	case "after_ok":
		r.OK = f.Texts(e.Value, e.Key)
	case "after_each":
		if t, ok := f.Text(e.Value, e.Key); ok {
			r.Each = t
		}
	default:
		return false
	}
	return true
}

// ReadInputs reads the key inputs: files of other jobs, and paths of the submitter, which it returns.
func (r *Refs) ReadInputs(f *document.Reader, n ast.Node) (paths []string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return f.Texts(n, "inputs")
	}
	for _, v := range list.Values {
		if r.input(f, v) {
			continue
		}
		if t, ok := f.Text(v, "inputs"); ok {
			paths = append(paths, t)
		}
	}
	return paths
}

// input reads an element that is a file of another job, and reports whether it is one.
func (r *Refs) input(f *document.Reader, n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return false
	}
	var in Input
	text := func(e document.Entry, dst *string) {
		if t, ok := f.Text(e.Value, "inputs "+e.Key); ok {
			*dst = t
		}
	}
	for _, e := range f.Mapping(n, "inputs", "job", "path", "to", "task") {
		switch e.Key {
		case "job":
			text(e, &in.Job)
		case "path":
			text(e, &in.Path)
		case "to":
			text(e, &in.To)
		case "task":
			f.Number(e, 0, grid.MaxCount-1, func(n int64) { in.Task = uint32(n) })
		}
	}
	if in.Job == "" || in.Path == "" {
		f.At(n, "inputs: a file of another job: want job and path, as in {job: prepare, path: out/model.bin}")
	}
	r.Inputs = append(r.Inputs, in)
	return true
}
