package wire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

var (
	onFailureShape = &shape{"on_failure", []field{
		1: number("retry"), 2: data("codes", 1, 2*grid.MaxFailureCodes), 3: number("backoff"), 4: number("rerun"),
	}}
	failureShape = &shape{"failure", []field{
		1: number("attempt_epoch"), 2: number("attempt_n"), 3: data("worker", 1, nodeSize), 4: number("cause"),
		5: number("exit"), 6: data("line", 1, grid.MaxFailureLine), 7: number("done"),
	}}
)

func putOnFailure(f *grid.OnFailure) *pb.OnFailure {
	if f.Retry == 0 && !f.Rerun {
		return nil
	}
	p := &pb.OnFailure{Retry: f.Retry, Backoff: int64(f.Backoff), Rerun: f.Rerun}
	for _, c := range f.Codes {
		p.Codes = append(p.Codes, uint32(c))
	}
	return p
}

func (p part) onFailure(f *grid.OnFailure) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 1:
			f.Retry = int32(x)
		case 3:
			f.Backoff = time.Duration(x)
		case 4:
			f.Rerun = x != 0
		}
		return nil
	}, func(num protowire.Number, of part) error {
		if num != 2 {
			return nil
		}
		codes, err := of.numbers()
		if err != nil || len(codes) > grid.MaxFailureCodes {
			return fmt.Errorf("codes: %w: %d, want at most %d numbers", cmp.Or(err, ErrBound), len(codes), grid.MaxFailureCodes)
		}
		for _, x := range codes {
			f.Codes = append(f.Codes, int32(min(x, 1<<16)))
		}
		return nil
	})
}

func putFailures(fs []grid.Failure) []*pb.Failure {
	var out []*pb.Failure
	for i := range fs {
		f := &fs[i]
		out = append(out, &pb.Failure{AttemptEpoch: f.Attempt.Epoch, AttemptN: f.Attempt.N, Worker: putNode(f.Worker),
			Cause: uint32(f.Cause), Exit: f.Exit, Line: clean(f.Line), Done: f.Done})
	}
	return out
}

func getFailures(ps []*pb.Failure) ([]grid.Failure, error) {
	if len(ps) > grid.MaxFailures {
		return nil, fmt.Errorf("failures: %w: %d, want at most %d", ErrBound, len(ps), grid.MaxFailures)
	}
	var out []grid.Failure
	for _, p := range ps {
		f := grid.Failure{Attempt: grid.Attempt{Epoch: p.GetAttemptEpoch(), N: p.GetAttemptN()},
			Cause: getCause(p.GetCause()), Exit: p.GetExit(), Line: grid.Clean(p.GetLine(), grid.MaxFailureLine),
			Done: p.GetDone()}
		if err := getNode("worker", p.GetWorker(), &f.Worker); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func putFinal(f *grid.Entry) *pb.Final {
	below, free := putOffered(f.Offered)
	return &pb.Final{Index: f.Index, Epoch: f.Epoch, AttemptEpoch: f.Attempt.Epoch, AttemptN: f.Attempt.N,
		Worker: putNode(f.Worker), Lost: f.Lost, Result: putMaybe(f.Result), Placed: f.Placed, Began: f.Began,
		Done: f.Done, Round: f.Round, Again: int64(f.Again), Failures: putFailures(f.Failures),
		RetriedAt: f.RetriedAt, RetryEpoch: f.RetryEpoch, Used: int64(f.Used),
		OfferedBelow: below, OfferedFree: free}
}

func getFinal(p *pb.Final) (f grid.Entry, err error) {
	f = grid.Entry{Index: p.GetIndex(), Epoch: p.GetEpoch(), Attempt: grid.Attempt{Epoch: p.GetAttemptEpoch(),
		N: p.GetAttemptN()}, Lost: p.GetLost(), Placed: p.GetPlaced(), Began: p.GetBegan(), Done: p.GetDone(),
		Round: p.GetRound(), Again: time.Duration(p.GetAgain()), RetriedAt: p.GetRetriedAt(),
		RetryEpoch: p.GetRetryEpoch(), Used: time.Duration(p.GetUsed())}
	if f.Result, err = getMaybe(p.GetResult()); err == nil {
		err = getNode("worker", p.GetWorker(), &f.Worker)
	}
	if err == nil {
		f.Failures, err = getFailures(p.GetFailures())
	}
	if err == nil {
		f.Offered, err = getOffered(p.GetOfferedBelow(), p.GetOfferedFree())
	}
	return f, err
}

// openEntry checks what an entry says of further attempts. An open one has a result, and is waited for a bounded time.
func openEntry(f *grid.Entry) error {
	if f.Used < 0 || f.Used > MaxSpan {
		return fmt.Errorf("entry %d: %w: attempts have run for %v", f.Index, ErrBound, f.Used)
	}
	if f.Round > grid.MaxRounds || f.RetriedAt > f.Round+1 ||
		f.Again < 0 || f.Again > 2*grid.MaxBackoff || f.Again > 0 && f.Result == nil {
		return fmt.Errorf("entry %d, round %d, again after %v: %w: want at most %d and %v, and a result", f.Index, f.Round,
			f.Again, ErrBound, grid.MaxRounds, 2*grid.MaxBackoff)
	}
	for i := range f.Failures {
		if f.Failures[i].Done < 0 {
			return fmt.Errorf("entry %d: %w: a failure in %d ns", f.Index, ErrBound, f.Failures[i].Done)
		}
	}
	return nil
}

// spanSize is the size of a span of tasks: its first one, and the one after its last.
const spanSize = 8

func putOffered(o *grid.OfferedTasks) (below uint32, free []byte) {
	if o == nil {
		return 0, nil
	}
	for _, s := range o.Free {
		free = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(free, s.From), s.To)
	}
	return o.Below, free
}

func getOffered(below uint32, free []byte) (*grid.OfferedTasks, error) {
	if below == 0 && len(free) == 0 {
		return nil, nil
	}
	if len(free)%spanSize != 0 {
		return nil, fmt.Errorf("offered_free: %w: %d bytes: want %d for each span of tasks", ErrMalformed, len(free),
			spanSize)
	}
	o := &grid.OfferedTasks{Below: below}
	for ; len(free) > 0; free = free[spanSize:] {
		o.Free = append(o.Free, grid.TaskSpan{From: binary.BigEndian.Uint32(free), To: binary.BigEndian.Uint32(free[4:])})
	}
	if !o.Valid(grid.MaxCount) {
		return nil, fmt.Errorf("offered_free: %w: %d spans of tasks below %d: want at most %d, ascending, apart, and not "+
			"beyond that task", ErrBound, len(o.Free), below, grid.MaxFree)
	}
	return o, nil
}
