package stdin

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Values of the flag --stdin.
const (
	Auto = "auto" // as One if it was meant for this program and there is one task, else None
	None = "none"
	One  = "one"  // streamed to the one task while it runs
	Each = "each" // kept by the node, and read by all tasks from its beginning
)

// Want is what the command line says about the standard input, and what bears on it.
type Want struct {
	Mode        string // of --stdin
	Interactive bool   // -i
	Terminal    bool   // -t
	Count       int64
	Detach      bool
	Retries     int64 // as far as they were stated
	RetryFailed int64
	Idempotent  bool
	Lines       bool // it is read for the lines of --each-line
}

// AddFlags adds the flags about the standard input.
func (w *Want) AddFlags(fl *pflag.FlagSet) {
	fl.StringVar(&w.Mode, "stdin", Auto, "who reads the standard input: none, one (the one task, while it "+
		"runs: it runs at most once), each (all tasks, from its beginning), or auto (one, for a pipe or a file that was "+
		"given to skep itself)")
	fl.BoolVarP(&w.Terminal, "terminal", "t", false, "give the one task a terminal, and send it what is typed here: it "+
		"runs at most once, and prints one stream")
	fl.BoolVarP(&w.Interactive, "interactive", "i", false, "as --stdin one, whatever the standard input is")
}

// Note notes what other flags say that bears on it.
func (w *Want) Note(fl *pflag.FlagSet) {
	w.Count, _ = fl.GetInt64("count")
	w.Detach, _ = fl.GetBool("detach")
	w.Idempotent, _ = fl.GetBool("idempotent")
	w.RetryFailed, _ = fl.GetInt64("retry-failed")
	lines, _ := fl.GetString("each-line")
	w.Lines = lines == "-"
	if fl.Changed("retries") {
		w.Retries, _ = fl.GetInt64("retries")
	}
}

// Choose returns what to do with a standard input: None, One or Each; nil is none. With None, left is why one that
// holds something was left alone; "" if that was asked for.
func Choose(w *Want, f *os.File) (mode, left string, err error) {
	switch {
	case w.Terminal:
		return One, "", w.checkTerminal()
	case w.Lines && (w.Interactive || w.Mode == One || w.Mode == Each):
		return "", "", errors.New("a standard input for tasks with --each-line -, which reads it: want --each-line FILE")
	case w.Lines && w.Mode == Auto:
		return None, "", nil
	case w.Interactive && w.Mode != Auto && w.Mode != One:
		return "", "", fmt.Errorf("-i with --stdin %s: want one of them", w.Mode)
	case w.Interactive:
		return One, "", w.once("-i")
	}
	switch w.Mode {
	case None:
		return None, "", nil
	case Each:
		return Each, "", nil
	case One:
		return One, "", w.once("--stdin one")
	case Auto:
		return w.auto(f)
	}
	return "", "", fmt.Errorf("--stdin %.32q: want auto, none, one or each", w.Mode)
}

// How long the standard input of a calling program may be empty until it counts as one: what a program gives to those
// that it starts without an input is often a pipe that it closes a moment later. The longer time is for jobs that would
// be refused with an input.
const (
	patience         = 50 * time.Millisecond
	patienceToRefuse = 2 * time.Second
)

// auto is Choose for Auto.
func (w *Want) auto(f *os.File) (mode, left string, err error) {
	switch {
	case !holdsInput(f, 0):
		return None, "", nil
	case w.Count > 1:
		return None, "it goes to several tasks only with --stdin each", nil
	case w.Detach:
		return None, "a job that is left alone gets it only with --stdin each", nil
	case inherited(f):
		return None, "the program that called skep has it too: to send it, say -i", nil
	}
	refused, wait := w.once("a standard input"), patience
	if refused != nil {
		wait = patienceToRefuse
	}
	if !holdsInput(f, wait) {
		return None, "", nil
	}
	return One, "", refused
}

// once returns an error if the job must not run at most once, as with a streamed input.
func (w *Want) once(what string) error {
	const remedy = "want --stdin each, which keeps it, or --stdin none"
	switch {
	case w.Count > 1:
		return fmt.Errorf("%s with %d tasks: it is streamed to one: %s", what, w.Count, remedy)
	case w.Detach:
		return fmt.Errorf("%s with --detach: it is streamed while the task runs: %s", what, remedy)
	case w.Retries > 0:
		return fmt.Errorf("%s with --retries %d: it is streamed, and cannot be sent to another attempt: %s", what, w.Retries,
			remedy)
	case w.RetryFailed > 0:
		return fmt.Errorf("%s with --retry-failed %d: it is streamed, and cannot be sent again: %s", what, w.RetryFailed,
			remedy)
	case w.Idempotent:
		return errors.New(what + " with --idempotent: it is streamed, and cannot be sent to a backup attempt: " + remedy)
	}
	return nil
}

// checkTerminal returns an error if the job cannot have the terminal of its submitter.
func (w *Want) checkTerminal() error {
	const remedy = "want one of them"
	switch {
	case w.Count > 1:
		return fmt.Errorf("-t with %d tasks: a terminal is of one: want --count 1, or no -t", w.Count)
	case w.Mode != Auto && w.Mode != One:
		return fmt.Errorf("-t with --stdin %.32s: %s", w.Mode, remedy)
	case w.Lines:
		return errors.New("-t with --each-line -: both read the standard input: " + remedy)
	case w.Detach:
		return errors.New("-t with --detach: who sits at the terminal stays: " + remedy)
	case w.Retries > 0:
		return fmt.Errorf("-t with --retries %d: what is typed cannot be sent to another attempt: %s", w.Retries, remedy)
	case w.RetryFailed > 0:
		return fmt.Errorf("-t with --retry-failed %d: what is typed cannot be sent again: %s", w.RetryFailed, remedy)
	case w.Idempotent:
		return errors.New("-t with --idempotent: what is typed cannot be sent to a backup attempt: " + remedy)
	}
	return nil
}

// holdsInput reports whether a file can be a standard input that was meant for somebody: no terminal or other device,
// no file that has been read to its end, and no empty pipe that nobody has open for writing once that time has passed.
func holdsInput(f *os.File, wait time.Duration) bool {
	if f == nil {
		return false
	}
	st, err := f.Stat()
	switch {
	case err != nil || st.Mode()&os.ModeDevice != 0 || st.IsDir():
		return false
	case st.Mode().IsRegular():
		at, err := f.Seek(0, 1)
		return err == nil && at < st.Size()
	}
	return !ended(f, wait)
}

// inherited reports whether the calling process has the same standard input, or has read of it.
func inherited(f *os.File) bool {
	st, err := f.Stat()
	if err != nil {
		return false
	}
	if st.Mode().IsRegular() {
		if at, err := f.Seek(0, 1); err == nil && at > 0 {
			return true
		}
	}
	return ofParent(st)
}
