package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// afterField is the number of what a job waits for in an encoded spec.
const afterField = 80

var (
	dependencyShape = &shape{"dependency", []field{
		1: data("job", 1, jobSize), 2: number("kind"), 3: data("members", 1, nodeSize*grid.MaxMembers),
	}}
	jobInputShape = &shape{"job_input", []field{
		1: number("of"), 2: number("task"), 3: data("path", 1, grid.MaxPath), 4: data("to", 1, grid.MaxPath),
	}}
	afterShape = &shape{"after", []field{
		1: message("jobs", grid.MaxAfter, dependencyShape), 2: message("inputs", grid.MaxJobInputs, jobInputShape),
	}}
)

func putAfter(a *grid.After) *pb.After {
	if len(a.Jobs) == 0 && len(a.Inputs) == 0 {
		return nil
	}
	p := &pb.After{}
	for k := range a.Jobs {
		d := &a.Jobs[k]
		p.Jobs = append(p.Jobs, &pb.Dependency{Job: putJob(d.Job), Kind: uint32(d.Kind), Members: putNodes(d.Members)})
	}
	for _, in := range a.Inputs {
		p.Inputs = append(p.Inputs, &pb.JobInput{Of: in.Of, Task: in.Task, Path: []byte(in.Path), To: []byte(in.To)})
	}
	return p
}

func (p part) after(a *grid.After) error {
	return p.each(skipNumber, func(num protowire.Number, of part) error {
		switch num {
		case 1:
			a.Jobs = append(a.Jobs, grid.Dependency{})
			return of.dependency(&a.Jobs[len(a.Jobs)-1])
		case 2:
			a.Inputs = append(a.Inputs, grid.JobInput{})
			return of.jobInput(&a.Inputs[len(a.Inputs)-1])
		}
		return nil
	})
}

func (p part) dependency(d *grid.Dependency) error {
	return p.each(func(num protowire.Number, x uint64) error {
		if num != 2 {
			return nil
		}
		if d.Kind = grid.AfterKind(x); uint64(d.Kind) != x {
			return fmt.Errorf("kind of dependency: %w: %d", ErrBound, x)
		}
		return nil
	}, func(num protowire.Number, of part) (err error) {
		switch num {
		case 1:
			err = getJob(of.b, &d.Job)
		case 3:
			d.Members, err = getMembers(nil, of.b)
		}
		return err
	})
}

func (p part) jobInput(in *grid.JobInput) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 1:
			in.Of = uint32(x)
		case 2:
			in.Task = uint32(x)
		}
		return nil
	}, func(num protowire.Number, of part) error {
		switch num {
		case 3:
			in.Path = of.display()
		case 4:
			in.To = of.display()
		}
		return nil
	})
}

// left checks the files that other jobs have left for a task.
func left(files []grid.File) error {
	others, from := grid.SplitInputs(files)
	if len(others) > grid.MaxJobInputs || len(from) > grid.MaxCheckpointFiles {
		return fmt.Errorf("%d inputs of other jobs, %d files of a checkpoint: %w: want at most %d and %d", len(others),
			len(from), ErrBound, grid.MaxJobInputs, grid.MaxCheckpointFiles)
	}
	for i := range files {
		if f := &files[i]; !grid.Inside(f.Path) || f.Blob.IsZero() || f.Size < 0 {
			return fmt.Errorf("input %.64q of %d bytes: %w: want a path inside the work folder and a content", f.Path, f.Size,
				ErrBound)
		}
	}
	return nil
}
