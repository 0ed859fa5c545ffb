package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func readEnded(b []byte, m *grid.Message) error {
	var p pb.Ended
	if err := parse(b, &p); err != nil {
		return err
	}
	if err := oneAttempt(p.Attempt, m); err != nil {
		return err
	}
	var err error
	if m.Result, err = getResult(p.Result); err == nil {
		err = text("error", m.Result.Error, grid.MaxText)
	}
	return err
}

// readDeposit decodes a result that may be missing.
func readDeposit(b []byte, m *grid.Message) error {
	var p pb.Ended
	if err := parse(b, &p); err != nil {
		return err
	}
	if p.Result != nil {
		return readEnded(b, m)
	}
	return oneAttempt(p.Attempt, m)
}

func readRefuse(b []byte, m *grid.Message) error {
	var p pb.Refuse
	if err := parse(b, &p); err != nil {
		return err
	}
	if err := oneAttempt(p.Attempt, m); err != nil {
		return err
	}
	m.Refusal = grid.Refusal{Why: getWhy(p.Why), Detail: cleanText(p.Detail)}
	if n := len(p.Puller); n == nodeSize {
		m.Puller = grid.NodeID(p.Puller)
	} else if n != 0 {
		return fmt.Errorf("puller: %w: %d bytes, want %d", ErrBound, n, nodeSize)
	}
	var err error
	if m.Prices, err = getPrices(p.Prices); err != nil {
		return err
	}
	return text("detail", m.Refusal.Detail, grid.MaxText)
}

func oneAttempt(p *pb.Attempt, m *grid.Message) error {
	var a grid.AttemptID
	if err := getAttempt(p, &a); err != nil {
		return err
	}
	m.Attempts = append(m.Attempts, a)
	return nil
}

func putResult(r *grid.Result) *pb.Result {
	return &pb.Result{Cause: uint32(r.Cause), Exit: r.Exit, Error: clean(r.Error), Waited: putSpan(r.Waited),
		Wall: putSpan(r.Wall), Cpu: putSpan(r.CPU), MaxRss: int64(r.MaxRSS), Stdout: putOutput(&r.Stdout),
		Stderr: putOutput(&r.Stderr), Outputs: putFiles(r.Outputs), Next: clean(r.Next), LastLine: clean(r.LastLine),
		Option: uint32(r.Option), Proof: []byte(r.Proof)}
}

func getResult(p *pb.Result) (*grid.Result, error) {
	if p == nil {
		return nil, fmt.Errorf("result: %w: is missing", ErrMalformed)
	}
	r := &grid.Result{Cause: getCause(p.Cause), Exit: p.Exit, Error: cleanText(p.Error), Next: cleanText(p.Next),
		LastLine: grid.Clean(p.LastLine, grid.MaxFailureLine),
		MaxRSS:   grid.Bytes(p.MaxRss), Option: getOption(p.Option), Proof: string(p.Proof)}
	var err error
	if r.Waited, err = getSpan("waited", p.Waited); err != nil {
		return nil, err
	}
	if r.Wall, err = getSpan("wall", p.Wall); err != nil {
		return nil, err
	}
	if r.CPU, err = getSpan("cpu", p.Cpu); err != nil {
		return nil, err
	}
	if err = getOutput(p.Stdout, &r.Stdout); err != nil {
		return nil, err
	}
	if err = getOutput(p.Stderr, &r.Stderr); err != nil {
		return nil, err
	}
	if r.Outputs, err = getFiles(p.Outputs); err != nil {
		return nil, err
	}
	return r, nil
}

// putOutput returns nil for a stream on which nothing was printed.
func putOutput(o *grid.Output) *pb.Output {
	if len(o.Inline) == 0 && o.Blob.IsZero() && o.Size == 0 && o.Dropped == 0 {
		return nil
	}
	return &pb.Output{Inline: o.Inline, Blob: putBlob(&o.Blob), Size: int64(o.Size), Dropped: int64(o.Dropped)}
}

func getOutput(p *pb.Output, o *grid.Output) error {
	o.Inline, o.Size, o.Dropped = p.GetInline(), grid.Bytes(p.GetSize()), grid.Bytes(p.GetDropped())
	return getBlob(p.GetBlob(), &o.Blob)
}

// getCause maps a cause of a later version to Failed: a result must not be lost for it.
func getCause(n uint32) grid.Cause {
	if n >= uint32(grid.Causes) {
		return grid.Failed
	}
	return grid.Cause(n)
}

// getWhy maps a reason of a later version to a temporary one, and never returns the separator.
func getWhy(n uint32) grid.Why {
	if n >= uint32(grid.Whys) || grid.Why(n) == grid.WhyNever {
		return grid.WhyFailed
	}
	return grid.Why(n)
}

// putPrices encodes the prices of a refusal; nil = there are none.
func putPrices(x *grid.Prices) *pb.Prices {
	if x == nil {
		return nil
	}
	p := &pb.Prices{Cpu: x.CPU, Memory: x.Memory, Worth: x.Worth, LeftCpu: int64(x.Left.CPU),
		LeftMemory: int64(x.Left.Memory), LeftCounts: string(x.Left.Counts), Offers: uint32(x.Offers)}
	for _, u := range x.Counted {
		p.Kinds, p.Units = append(p.Kinds, u.Kind), append(p.Units, u.Price)
	}
	return p
}

func getPrices(p *pb.Prices) (*grid.Prices, error) {
	if p == nil {
		return nil, nil
	}
	if len(p.Kinds) != len(p.Units) {
		return nil, fmt.Errorf("prices: %w: columns of %d and %d", ErrMalformed, len(p.Kinds), len(p.Units))
	}
	x := &grid.Prices{CPU: p.Cpu, Memory: p.Memory, Worth: p.Worth, Left: resourcesOf(p.LeftCpu, p.LeftMemory,
		p.LeftCounts), Offers: int(p.Offers)}
	for k, kind := range p.Kinds {
		x.Counted = append(x.Counted, grid.UnitPrice{Kind: kind, Price: p.Units[k]})
	}
	return x, nil
}

// prices checks what a worker says of its prices: they are an estimate, but a number.
func prices(x *grid.Prices) error {
	if x == nil {
		return nil
	}
	return first(bound(x.Check()), resources("left", x.Left))
}
