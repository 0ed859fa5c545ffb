package coordinator_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// Checkpoints in scripts. A driver that is asked to take one does so in a millisecond, and a fetch takes two.

// closeCheckpoints tells a node that a program has closed checkpoints.
func (w *network) closeCheckpoints(m *member, args []string) error {
	var steps []uint64
	for _, a := range args[1:] {
		k, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			return err
		}
		steps = append(steps, k)
	}
	for _, s := range m.running {
		if strings.HasPrefix(w.attempt(s.Attempt), args[0]+"#") {
			w.step(m, &grid.Event{Kind: grid.EvCheckpoint, Attempt: s.Attempt,
				OfAttempt: grid.OfAttempt{Checkpoint: &grid.Checkpoint{Closed: steps}}})
			return nil
		}
	}
	return fmt.Errorf("%s does not run %s", m.name, args[0])
}

// saysProgress tells a node how far a program that runs says to be.
func (w *network) saysProgress(m *member, args []string) error {
	done, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	total, err := strconv.ParseFloat(args[2], 64)
	if err != nil {
		return err
	}
	for _, s := range m.running {
		if strings.HasPrefix(w.attempt(s.Attempt), args[0]+"#") {
			w.step(m, &grid.Event{Kind: grid.EvProgress, Attempt: s.Attempt,
				OfAttempt: grid.OfAttempt{Progress: &grid.Progress{Done: done, Total: total}}})
			return nil
		}
	}
	return fmt.Errorf("%s does not run %s", m.name, args[0])
}

// carryOutCheckpoints carries out what a step wants of files.
func (w *network) carryOutCheckpoints(m *member, fx *grid.Effects) {
	for _, x := range fx.Takes {
		what := "keeps"
		if x.Step != 0 {
			what = fmt.Sprintf("takes checkpoint %d, keeps", x.Step)
			files := []grid.File{{Path: "f", Size: 100,
				Blob: sha256.Sum256(fmt.Append(nil, x.Attempt.Task.Index, x.Step))}}
			w.post(&due{at: w.now.Add(oneWay), to: m, ev: grid.Event{Kind: grid.EvCheckpoint, Attempt: x.Attempt,
				OfAttempt: grid.OfAttempt{Checkpoint: &grid.Checkpoint{Step: x.Step, Files: files}}}})
		}
		w.printf("%s of %s %s %v", m.name, w.attempt(x.Attempt), what, x.Keep)
	}
	for i := range fx.Fetches {
		f := &fx.Fetches[i]
		if f.Step == 0 && !slices.ContainsFunc(f.Files, isInput) {
			continue
		}
		err := "nobody has them"
		for _, id := range append([]grid.NodeID{f.From}, f.Others...) {
			if o := w.byID(id); o != m && o.n != nil {
				err = ""
			}
		}
		w.printf("%s fetches %d files of %s", m.name, len(f.Files), w.attempt(f.Attempt))
		w.post(&due{at: w.now.Add(2 * oneWay), to: m, ev: grid.Event{Kind: grid.EvFetched, Attempt: f.Attempt,
			Deposit: f.Deposit, Err: err, OfAttempt: grid.OfAttempt{Step: f.Step}}})
	}
}

func isCheckpointInput(f grid.File) bool { return strings.HasPrefix(f.Path, grid.CheckpointFolder) }

func isInput(f grid.File) bool { return isCheckpointInput(f) || f.Path == "data" }

// beginning is what an attempt begins from, in words.
func beginning(s *grid.Start) string {
	at := slices.IndexFunc(s.Inputs, isCheckpointInput)
	if at < 0 {
		return ""
	}
	text := fmt.Sprintf(" from checkpoint %s, %d files", strings.Split(s.Inputs[at].Path, "/")[1], len(s.Inputs)-at)
	if b := &s.Before; b.Ranks > 0 {
		text += fmt.Sprintf(" of %d ranks", b.Ranks)
		if b.Shares != nil {
			text += fmt.Sprintf(" %v", b.Shares)
		}
	}
	return text
}

func checkpointText(x *grid.Checkpoint) (s string) {
	if x.Step != 0 {
		s += fmt.Sprintf(" step %d", x.Step)
	}
	if len(x.Files) > 0 {
		s += fmt.Sprintf(", %d files", len(x.Files))
	}
	if len(x.Closed) > 0 {
		s += fmt.Sprintf(", closed %v", x.Closed)
	}
	if x.Usable > 0 {
		s += fmt.Sprintf(", usable %d", x.Usable)
	}
	if x.Kept {
		s += ", kept"
	}
	if x.Refusal.Why != grid.WhyNone {
		s += ": " + x.Refusal.Why.String()
	}
	return s
}
