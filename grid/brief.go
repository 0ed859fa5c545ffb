package grid

import "time"

// Brief is a result in compact form for long storage: most results hold only a few numbers, and there are many. The
// zero value is no result.
type Brief struct {
	Cause  Cause
	Exit   int32
	Waited time.Duration
	Wall   time.Duration
	CPU    time.Duration
	MaxRSS Bytes
	whole  *Result // set if the result has more than numbers
}

// Brief returns the compact form of a result; r may be nil.
func (r *Result) Brief() Brief {
	if r == nil {
		return Brief{}
	}
	b := Brief{Cause: r.Cause, Exit: r.Exit, Waited: r.Waited, Wall: r.Wall, CPU: r.CPU, MaxRSS: r.MaxRSS}
	if r.Cause == 0 || r.Error != "" || !r.Stdout.empty() || !r.Stderr.empty() || len(r.Outputs) > 0 || r.Next != "" {
		b.whole = r
	}
	return b
}

// None reports whether there is no result.
func (b *Brief) None() bool { return b.Cause == 0 && b.whole == nil }

// Whole returns the full result if it has more than the numbers of b, else nil.
func (b *Brief) Whole() *Result { return b.whole }

// Result returns the full result; nil if there is none.
func (b *Brief) Result() *Result {
	if b.whole != nil || b.None() {
		return b.whole
	}
	return &Result{Cause: b.Cause, Exit: b.Exit, Waited: b.Waited, Wall: b.Wall, CPU: b.CPU, MaxRSS: b.MaxRSS}
}

func (o *Output) empty() bool {
	return len(o.Inline) == 0 && o.Blob.IsZero() && o.Size == 0 && o.Dropped == 0
}
