package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"skep/cmd/skep/arrays"
	"skep/grid"
	v1 "skep/node/api/v1"
)

// maxInputs bounds the input files of one job together, in bytes.
const maxInputs = 64 * grid.GiB

// inputFile is a file of the submitter and its path in the work folder.
type inputFile struct {
	source  string // a local path; empty if the blob is named by its hash
	content []byte // instead of a local file
	to      v1.File
	only    []v1.TaskInput // the tasks that have it; none = all
	text    string         // of the input that stands for it
}

// collectInputs finds the files that are uploaded with a job: a program that is named by the path of a local file, and
// the inputs. Relative paths are relative to dir. It adds the requirements of the program's header to the needs.
func collectInputs(spec *v1.Spec, inputs []string, dir string, values *arrays.Values) ([]inputFile, error) {
	var files []inputFile
	var problems []error
	if p, err := program(spec, dir); err != nil {
		problems = append(problems, err)
	} else if p != nil {
		files = append(files, *p)
	}
	for _, in := range inputs {
		more, err := inputsOf(in, dir, values)
		if err != nil {
			problems = append(problems, err)
		}
		files = append(files, more...)
	}
	if values != nil && len(values.Lines()) > 0 {
		content := arrays.Content(values.Lines())
		to := v1.File{Path: arrays.LinesPath, Size: int64(len(content))}
		files = append(files, inputFile{source: "the lines", content: content, to: to})
	}
	var sum int64
	seen := map[string]string{}
	kept := files[:0]
	for _, f := range files {
		text, twice := seen[f.to.Path]
		if twice && f.source != "" && len(kept) > 0 && kept[0].source == f.source {
			continue // the program itself
		}
		if twice && (text != f.text || f.only == nil) { // each task has one of what a text with values stands for
			problems = append(problems,
				fmt.Errorf("input %q: two files would have this name in the work folder: say another with PATH=NAME", f.to.Path))
		}
		if err := notText(f.to.Path); err != nil {
			problems = append(problems, fmt.Errorf("input %w", err))
		}
		seen[f.to.Path] = f.text
		sum += f.to.Size
		kept = append(kept, f)
	}
	if err := checkProgram(spec, kept); err != nil && len(problems) == 0 {
		problems = append(problems, err)
	}
	if len(kept) > grid.MaxFiles || sum > int64(maxInputs) {
		problems = append(problems, fmt.Errorf("inputs: %d files of %s: want at most %d of %s together", len(kept),
			humanize.IBytes(uint64(sum)), grid.MaxFiles, humanize.IBytes(uint64(maxInputs))))
	}
	return kept, errors.Join(problems...)
}

// inputsOf returns the files of an input, and which tasks have them.
func inputsOf(text, dir string, values *arrays.Values) (files []inputFile, err error) {
	all := []arrays.Input{arrays.ParseInput(text)}
	if values != nil {
		if all, err = values.Inputs(text); err != nil {
			return nil, err
		}
	}
	for _, in := range all {
		more, err := input(&in, dir)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].only, more[i].text = in.Only, text
		}
		files = append(files, more...)
	}
	return files, nil
}

// input returns the files of PATH[=NAME] or HASH=NAME; a folder stands for all files in it.
func input(in *arrays.Input, dir string) ([]inputFile, error) {
	from, name := in.Path, in.Name
	if _, err := grid.ParseBlobID(from); err == nil {
		if !in.Named || !grid.Inside(name) {
			return nil, fmt.Errorf("input %.80q: want a name inside the work folder after the hash: HASH=NAME", in)
		}
		return []inputFile{{to: v1.File{Path: path.Clean(name), Blob: from}}}, nil
	}
	if !in.Named {
		name = workPath(from)
	}
	if !grid.Inside(name) {
		return nil, fmt.Errorf("input %.80q: %q is not inside the work folder: want another name, with PATH=NAME", in, name)
	}
	name = path.Clean(name)
	root := absolute(dir, from)
	st, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("input %.80q: %w", in, withoutPath(err))
	}
	if !st.IsDir() {
		f, err := regular(root, name, st)
		return []inputFile{f}, err
	}
	var files []inputFile
	// with the separator, a link to a folder is followed
	err = filepath.WalkDir(root+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if len(files) >= grid.MaxFiles {
			return fmt.Errorf("has more than %d files", grid.MaxFiles)
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		f, err := regular(p, path.Join(name, filepath.ToSlash(rel)), st)
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", root, err)
	}
	return files, nil
}

func regular(from, to string, st fs.FileInfo) (inputFile, error) {
	if !st.Mode().IsRegular() {
		return inputFile{}, fmt.Errorf("input %s: is neither a file nor a folder", from)
	}
	return inputFile{source: from, to: v1.File{Path: to, Size: st.Size(), Exec: st.Mode()&0o100 != 0}}, nil
}

// workPath returns the path in the work folder of a path of the submitter: the same if that is inside, else the base
// name.
func workPath(p string) string {
	p = filepath.ToSlash(p)
	if grid.Inside(p) {
		return path.Clean(p)
	}
	return path.Base(path.Clean(p))
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// withoutPath removes a file's name from an error whose message has it already.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
