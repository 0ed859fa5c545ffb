package retention

import (
	"errors"
	"fmt"
	"time"

	"skep/grid"
)

// Bounds say how much a node keeps of jobs that are over; 0 bounds nothing. The default bounds nothing here: what is
// kept is bounded by the memory for it alone.
type Bounds struct {
	// Jobs is the number of jobs. Lower takes less memory and disk.
	Jobs int `json:",omitempty"`

	// Age is how long a job is kept after its end. Lower forgets results sooner that nobody has fetched.
	Age time.Duration `json:",omitempty"`

	// Bytes are those of the files, inputs and outputs, that only jobs which are over hold. Lower leaves more of the
	// folder of files to what runs.
	Bytes grid.Bytes `json:",omitempty"`
}

// Config is what a node is told once.
type Config struct {
	Bounds

	// Gaps are times in which the node did not run, oldest first, as far as they are known; default nil, none. It is a
	// pointer since configurations are compared.
	Gaps *[]Gap `json:",omitempty"`
}

// Gap is a time in which a node did not run, or its wall clock was set: from the last moment of a run to the first one
// of the next, in Unix nanoseconds, each as that run has it.
type Gap struct{ From, To int64 }

// MostAway is how much of a gap counts to the ages of jobs. Higher counts more of the time in which a node is switched
// off, and lets more go that is younger when a clock has jumped.
const MostAway = Day

// age is how long ago, at a time, a job has ended, by what was recorded then. Both are in Unix nanoseconds.
func (c *Config) age(now, ended int64) time.Duration {
	age := time.Duration(max(now-ended, 0))
	if c.Gaps == nil {
		return age
	}
	for _, g := range *c.Gaps {
		if g.From >= ended {
			age -= max(time.Duration(g.To-g.From)-MostAway, 0)
		}
	}
	return max(age, 0)
}

// Day is a unit of ages.
const Day = 24 * time.Hour

const (
	mostJobs = 1_000_000_000
	mostAge  = 3650 * Day

	// Grace is how long a job is kept whatever the bounds are, if starts of its tasks are possible for no longer: a
	// client repeats a submission of which the answer was lost for half a minute.
	Grace = time.Minute
)

// Any reports whether anything is bounded.
func (b *Bounds) Any() bool { return *b != Bounds{} }

// Check reports all problems of b.
func (b *Bounds) Check() error {
	var errs []error
	if b.Jobs < 0 || b.Jobs > mostJobs {
		errs = append(errs, fmt.Errorf("jobs %d: want 1 to %d", b.Jobs, mostJobs))
	}
	if b.Age != 0 && (b.Age < Grace || b.Age > mostAge) {
		errs = append(errs, fmt.Errorf("age %s: want %v to %s", AgeText(b.Age), Grace, AgeText(mostAge)))
	}
	if b.Bytes < 0 {
		errs = append(errs, fmt.Errorf("bytes %d: want more than 0", b.Bytes))
	}
	return errors.Join(errs...)
}

// AgeText writes a length of time with its days, as it is written in a setting: 30d, 1d12h0m0s.
func AgeText(d time.Duration) string {
	days := d / Day
	switch rest := d % Day; {
	case days == 0:
		return d.String()
	case rest == 0:
		return fmt.Sprintf("%dd", days)
	default:
		return fmt.Sprintf("%dd%v", days, rest)
	}
}

// sizeText writes a number of bytes in its largest unit.
func sizeText(n grid.Bytes) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	k, x := 0, float64(n)
	for ; x >= 1024 && k < len(units)-1; k++ {
		x /= 1024
	}
	return fmt.Sprintf("%.4g %s", x, units[k])
}

// Why is why a job is not kept any more.
type Why uint8

// Reasons, the first ones bounds of an operator.
const (
	Kept      Why = iota // it is kept, or nothing is known of it
	ByNumber             // Bounds.Jobs
	ByAge                // Bounds.Age
	ByBytes              // Bounds.Bytes
	ByTasks              // the bound of the ended tasks that are in memory
	ByAccount            // it made room for other jobs of those who account for it
	ByMembers            // no other node that kept it has its outcome any more
	reasons
)

var whyNames = [reasons]string{"", "jobs", "age", "bytes", "tasks", "room", "members"}

// String returns the name of the reason in metrics.
func (w Why) String() string { return whyNames[w] }

// Text says why a job has gone under bounds b, most being that of the tasks in memory.
func (w Why) Text(b *Bounds, most int) string {
	switch w {
	case ByNumber:
		return fmt.Sprintf("of jobs that have ended this node keeps %d (keep jobs=%[1]d)", b.Jobs)
	case ByAge:
		return fmt.Sprintf("this node keeps a job for %s after its end (keep age=%[1]s)", AgeText(b.Age))
	case ByBytes:
		return fmt.Sprintf("this node keeps at most %s of files for jobs that have ended (keep bytes)", sizeText(b.Bytes))
	case ByTasks:
		return fmt.Sprintf("this node keeps at most %d tasks of jobs that have ended", most)
	case ByAccount:
		return "it has made room here for newer jobs of other nodes"
	case ByMembers:
		return "the nodes that kept it had let it go"
	}
	return ""
}
