package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// maxInputs bounds the input files of one job together, in bytes.
const maxInputs = 64 * grid.GiB

// inputFile is a file of the submitter and its path in the work folder.
type inputFile struct {
	source string // a local path; empty if the blob is named by its hash
	to     v1.File
}

// collectInputs finds the files that are uploaded with a job: a program that is named by the path of a local file, and
// the inputs. Relative paths are relative to dir. It adds the requirements of the program's header to the needs.
func collectInputs(spec *v1.Spec, inputs []string, dir string) ([]inputFile, error) {
	var files []inputFile
	var problems []error
	if p, err := program(spec, dir); err != nil {
		problems = append(problems, err)
	} else if p != nil {
		files = append(files, *p)
	}
	for _, in := range inputs {
		more, err := input(in, dir)
		if err != nil {
			problems = append(problems, err)
		}
		files = append(files, more...)
	}
	var sum int64
	seen := map[string]bool{}
	kept := files[:0]
	for _, f := range files {
		if seen[f.to.Path] && f.source != "" && len(kept) > 0 && kept[0].source == f.source {
			continue // the program itself
		}
		if seen[f.to.Path] {
			problems = append(problems,
				fmt.Errorf("input %q: two files would have this name in the work folder: say another with PATH=NAME", f.to.Path))
		}
		if err := notText(f.to.Path); err != nil {
			problems = append(problems, fmt.Errorf("input %w", err))
		}
		seen[f.to.Path] = true
		sum += f.to.Size
		kept = append(kept, f)
	}
	if len(kept) > grid.MaxFiles || sum > int64(maxInputs) {
		problems = append(problems, fmt.Errorf("inputs: %d files of %s: want at most %d of %s together", len(kept),
			humanize.IBytes(uint64(sum)), grid.MaxFiles, humanize.IBytes(uint64(maxInputs))))
	}
	return kept, errors.Join(problems...)
}

// program returns the command's program as an input if its name has a slash and is a local file.
func program(spec *v1.Spec, dir string) (*inputFile, error) {
	if len(spec.Command) == 0 || !strings.Contains(spec.Command[0], "/") {
		return nil, nil
	}
	from := absolute(dir, spec.Command[0])
	st, err := os.Stat(from)
	if err != nil || !st.Mode().IsRegular() {
		return nil, nil // it may exist on the worker
	}
	m, err := sniff(from)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", from, err)
	}
	for k, v := range map[string]string{"os": m.os, "arch": m.arch} {
		if _, said := spec.Needs.Labels[k]; v == "" || said {
			continue
		}
		if spec.Needs.Labels == nil {
			spec.Needs.Labels = map[string][]string{}
		}
		spec.Needs.Labels[k] = []string{v}
	}
	to := workPath(spec.Command[0])
	spec.Command = append([]string{"./" + to}, spec.Command[1:]...)
	return &inputFile{from, v1.File{Path: to, Size: st.Size(), Exec: true}}, nil
}

// input parses PATH[=NAME] or HASH=NAME; a folder stands for all files in it.
func input(text, dir string) ([]inputFile, error) {
	from, name, named := strings.Cut(text, "=")
	if _, err := grid.ParseBlobID(from); err == nil {
		if !named || !grid.Inside(name) {
			return nil, fmt.Errorf("input %.80q: want a name inside the work folder after the hash: HASH=NAME", text)
		}
		return []inputFile{{to: v1.File{Path: path.Clean(name), Blob: from}}}, nil
	}
	if !named {
		name = workPath(from)
	}
	if !grid.Inside(name) {
		return nil, fmt.Errorf("input %.80q: %q is not inside the work folder: say a name with PATH=NAME", text, name)
	}
	name = path.Clean(name)
	root := absolute(dir, from)
	st, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("input %.80q: %w", text, withoutPath(err))
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
	return inputFile{from, v1.File{Path: to, Size: st.Size(), Exec: st.Mode()&0o100 != 0}}, nil
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

// upload uploads the files that the node does not have, and adds them to the spec.
func upload(ctx context.Context, c *client.Client, spec *v1.Spec, files []inputFile) error {
	for _, f := range files {
		if f.source != "" {
			hash, size, err := hashFile(f.source)
			if err != nil {
				return fmt.Errorf("input %w", err)
			}
			f.to.Blob, f.to.Size = hash, size
		}
		size, has, err := c.HasBlob(ctx, f.to.Blob)
		if err != nil {
			return err
		}
		switch {
		case f.source == "" && !has:
			return fmt.Errorf("input %s: the node has no blob of this hash", f.to.Blob)
		case f.source == "":
			f.to.Size = size
		case !has:
			if err := send(ctx, c, &f); err != nil {
				return fmt.Errorf("input %s: %w", f.source, err)
			}
		}
		spec.Inputs = append(spec.Inputs, f.to)
	}
	return nil
}

func hashFile(name string) (string, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

func send(ctx context.Context, c *client.Client, f *inputFile) error {
	r, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer r.Close()
	return c.PutBlob(ctx, f.to.Blob, f.to.Size, r)
}

// withoutPath removes a file's name from an error whose message has it already.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
