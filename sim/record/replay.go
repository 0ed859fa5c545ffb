package record

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/chain"
	"skep/sim"
)

// ErrFull says that a recording has reached its bound.
var ErrFull = errors.New("the recording has reached its bound")

// Replay is what came of one.
type Replay struct {
	Header     Header
	Restored   int
	Steps      int
	Lasted     time.Duration // from the first to the last step, on the node's clock
	Cut        bool          // the recording ends in the middle of a frame
	Difference *Difference   // the first; nil = none
}

// Difference is a step that did something else than was recorded.
type Difference struct {
	Step     int // from 1
	Now      grid.Time
	Event    string
	Recorded string
	Replayed string
}

// Run replays a recording. An error says what is wrong with the recording itself. step, if not nil, is
// called for each step.
func Run(in io.Reader, step func(n int, now grid.Time, event, effects string)) (*Replay, error) {
	x, h, err := newReader(in)
	if err != nil {
		return nil, err
	}
	h.Config.Signer = chain.Observer{}
	n, err := node.New(h.Config, grid.Wall{Zero: h.Zero})
	if err != nil {
		return nil, fmt.Errorf("the recorded configuration: %w", err)
	}
	r := &Replay{Header: *h}
	var first grid.Time
	for r.Difference == nil {
		it, err := x.item()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			r.Cut = errors.Is(err, io.ErrUnexpectedEOF)
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("after %d steps: %w", r.Steps, err)
		}
		switch {
		case it.Record != nil && r.Steps == 0:
			n.Restore(it.Record)
			r.Restored++
		case it.Event != nil:
			if r.Steps == 0 {
				first = it.Now
			}
			r.Steps++
			r.Lasted = it.Now.Sub(first)
			if err := r.step(x, n, it, step); err != nil {
				return r, err
			}
		default:
			return r, fmt.Errorf("after %d steps: a frame that does not belong there", r.Steps)
		}
	}
	return r, nil
}

// step takes one step, and compares it with what was recorded if that is there.
func (r *Replay) step(x *reader, n *node.Node, it *item, tell func(n int, now grid.Time, event, effects string)) error {
	event := sim.DescribeEvent(it.Event)
	var fx grid.Effects
	panicked := take(n, it, &fx)
	text, digest := described(&fx), sim.DigestOf(&fx)
	if panicked != "" {
		text = "panic: " + panicked
	}
	if tell != nil {
		tell(r.Steps, it.Now, event, text)
	}
	was, err := x.item()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if panicked != "" { // as it did when it was recorded, or it would have gone on
			r.Difference = &Difference{r.Steps, it.Now, event, "nothing: the recording ends here", text}
		}
		r.Cut = r.Cut || !errors.Is(err, io.EOF)
		return nil
	}
	if err != nil {
		return fmt.Errorf("after %d steps: %w", r.Steps, err)
	}
	if was.Did == nil {
		return fmt.Errorf("after %d steps: what the step did is missing", r.Steps)
	}
	if was.Did.Digest != digest || panicked != "" {
		r.Difference = &Difference{r.Steps, it.Now, event, was.Did.Text, text}
	}
	return nil
}

// take feeds an event, and returns what the node panicked with.
func take(n *node.Node, it *item, fx *grid.Effects) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	n.Step(it.Now, it.Event, fx)
	return ""
}
