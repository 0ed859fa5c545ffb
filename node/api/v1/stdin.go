package v1

import (
	"errors"

	"skep/grid"
)

// Stdin is what a job's tasks read as their standard input: a stream, or a blob.
type Stdin struct {
	Stream bool   `json:"stream,omitempty" doc:"The one task reads what is posted to the job's path /stdin while it runs. It runs at most once."`
	Blob   string `json:"blob,omitempty" doc:"SHA-256 of what every task reads from its beginning, in hexadecimal."`
	Size   int64  `json:"size_bytes,omitempty" doc:"Of the blob."`

	Terminal *Terminal `json:"terminal,omitempty" doc:"With stream: the task has a terminal, and what is posted are frames of what is typed there and of its sizes."`
}

// Terminal is the size of a terminal's window in characters, when its task starts.
type Terminal struct {
	Rows uint16 `json:"rows" doc:"0: not known."`
	Cols uint16 `json:"cols" doc:"0: not known."`
}

// StdinEnd says how far the standard input of a task was read.
type StdinEnd struct {
	Read int64 `json:"read_bytes" doc:"What was read of the request."`
	All  bool  `json:"all" doc:"All of it was written to the task; otherwise the task reads no more, or has ended."`
}

// stdinInput is the name of a blob of standard input among the inputs: it is in no work folder.
const stdinInput = "stdin"

// need adds the label of nodes that give their tasks a standard input.
func (s *Stdin) need(g *grid.JobSpec) {
	if s != nil {
		g.Needs.AddFeature(grid.StdinLabel)
		if s.Terminal != nil {
			g.Needs.AddFeature(grid.TerminalLabel)
		}
	}
}

// set sets the standard input of a job; retries are those that its spec states, if any.
func (s *Stdin) set(g *grid.JobSpec, retries *int32) error {
	switch {
	case s == nil:
		return nil
	case s.Stream == (s.Blob != ""):
		return errors.New("stdin: want either stream or a blob")
	case s.Terminal != nil && !s.Stream:
		return errors.New("stdin.terminal: want stream with it, which brings what is typed")
	case s.Stream:
		if t := s.Terminal; t != nil {
			g.Terminal = grid.Terminal{On: true, Rows: t.Rows, Cols: t.Cols}
		}
		if g.Stdin = grid.StdinStream; retries == nil {
			g.Retries = 0
		}
		return nil
	}
	id, err := grid.ParseBlobID(s.Blob)
	if err != nil {
		return err
	}
	g.Stdin = grid.StdinInput
	g.Inputs = append(g.Inputs, grid.File{Path: stdinInput, Blob: id, Size: grid.Bytes(s.Size)})
	return nil
}

// stdinOf is the standard input of a job; nil: none.
func stdinOf(g *grid.JobSpec) *Stdin {
	if f := g.StdinFile(); f != nil {
		return &Stdin{Blob: f.Blob.String(), Size: int64(f.Size)}
	}
	if g.Stdin == grid.StdinStream {
		in := &Stdin{Stream: true}
		if t := g.Terminal; t.On {
			in.Terminal = &Terminal{t.Rows, t.Cols}
		}
		return in
	}
	return nil
}
