package wire

import (
	"fmt"
	"slices"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// keptFileShape is a file of a checkpoint: before its own path come the folder in an offer, the step and the rank.
var keptFileShape = &shape{"checkpoint file", []field{
	1: data("path", 1, len(grid.CheckpointFolder)+grid.MaxCheckpointPath+3*24), 2: data("blob", 1, blobSize),
	3: number("size"), 4: number("exec"),
}}

var checkpointShape = &shape{"checkpoint", []field{
	1: message("attempt", 1, attemptShape), 2: number("step"),
	3: message("files", grid.MaxCheckpointFiles, keptFileShape), 4: data("closed", 1, 10*grid.MaxClosed),
	5: number("usable"), 6: number("kept"), 7: number("why"), 8: data("detail", 1, grid.MaxText),
	9: data("shares", 1, 5*grid.MaxRanks),
}}

func putCheckpoint(m *grid.Message) *pb.Checkpoint {
	x := m.Checkpoint
	return &pb.Checkpoint{Attempt: putAttempt(m.Attempts[0]), Step: x.Step, Files: putFiles(x.Files), Closed: x.Closed,
		Usable: x.Usable, Kept: x.Kept, Why: uint32(x.Refusal.Why), Detail: clean(x.Refusal.Detail), Shares: x.Shares}
}

func readCheckpoint(b []byte, m *grid.Message) error {
	var p pb.Checkpoint
	if err := parse(b, &p); err != nil {
		return err
	}
	if err := oneAttempt(p.Attempt, m); err != nil {
		return err
	}
	x := &grid.Checkpoint{Step: p.Step, Closed: p.Closed, Usable: p.Usable, Kept: p.Kept, Shares: p.Shares,
		Refusal: grid.Refusal{Why: getWhy(p.Why), Detail: cleanText(p.Detail)}}
	var err error
	x.Files, err = getFiles(p.Files)
	m.Checkpoint = x
	return err
}

func checkpoint(x *grid.Checkpoint) error {
	if x == nil {
		return fmt.Errorf("checkpoint: %w: is missing", ErrMalformed)
	}
	if len(x.Shares) > grid.MaxRanks {
		return fmt.Errorf("%d shares: %w: want at most %d", len(x.Shares), ErrBound, grid.MaxRanks)
	}
	if len(x.Files) > grid.MaxCheckpointFiles || len(x.Closed) > grid.MaxClosed {
		return fmt.Errorf("%d files, %d closed: %w: want at most %d and %d", len(x.Files), len(x.Closed), ErrBound,
			grid.MaxCheckpointFiles, grid.MaxClosed)
	}
	for _, k := range append([]uint64{x.Step, x.Usable}, x.Closed...) {
		if k > grid.MaxCheckpointStep {
			return fmt.Errorf("step %d: %w: want at most %g", k, ErrBound, float64(grid.MaxCheckpointStep))
		}
	}
	for i := range x.Files {
		if f := &x.Files[i]; !grid.Inside(f.Path) || f.Blob.IsZero() || f.Size < 0 {
			return fmt.Errorf("file %.64q of %d bytes: %w: want a path inside the folder and a content", f.Path, f.Size,
				ErrBound)
		}
	}
	return text("detail", x.Refusal.Detail, grid.MaxText)
}

func getInputs(left, from []*pb.File) ([]grid.File, error) {
	return getFiles(slices.Concat(left, from))
}

func putCheckpointRecord(c *grid.CheckpointRecord) *pb.CheckpointValue {
	return &pb.CheckpointValue{Epoch: c.ID.Epoch, N: c.ID.N, Step: c.Step, Files: putFiles(c.Files),
		Shares: c.Shares}
}

func getCheckpointRecord(key, value []byte) (*grid.CheckpointRecord, error) {
	var p pb.CheckpointValue
	c := new(grid.CheckpointRecord)
	err := parse(value, &p)
	if err == nil {
		err = getTask(key, &c.ID.Task)
	}
	if err == nil {
		c.Files, err = getFiles(p.Files)
	}
	c.ID.Epoch, c.ID.N, c.Step, c.Shares = p.Epoch, p.N, p.Step, p.Shares
	return c, err
}
