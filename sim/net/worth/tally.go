package worth

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"skep/grid"
)

// Task is a task that is measured.
type Task struct {
	Spec     *grid.JobSpec
	Refused  bool         // its job was, when it was submitted: its deadline could not be met
	Result   *grid.Result // nil = none
	Took     time.Duration
	Size     float64 // seconds on a slot of the reference
	Slowdown float64 // Took over the time that it ran
}

// Sums are of tasks. All that was submitted counts: what was refused, failed or has not ended is worth nothing.
type Sums struct {
	From, To grid.Bid // lowest and highest bid
	Tasks    int
	Refused  int
	Missed   int
	Done     int // with exit 0, as are the next three

	completion, slowdown, weighted float64 // seconds, the last times the bid

	weight, onTime float64 // bids of all, and of those that were done by their deadline
	worth          float64 // bid × what a result is worth when it comes × size
}

func (s *Sums) add(t *Task) {
	bid := t.Spec.Bid()
	if s.Tasks == 0 || bid < s.From {
		s.From = bid
	}
	s.To = max(s.To, bid)
	s.Tasks++
	s.weight += bid.Number()
	switch d := t.Spec.Rules.Deadline; {
	case t.Refused:
		s.Refused++
	case t.Result != nil && t.Result.Cause == grid.Missed:
		s.Missed++
	case t.Result != nil && t.Result.Exit == 0:
		s.Done++
		s.completion += t.Took.Seconds()
		s.slowdown += t.Slowdown
		s.weighted += bid.Number() * t.Took.Seconds()
		s.worth += bid.Number() * d.Worth(t.Took) * t.Size
		if d.Met(t.Took) {
			s.onTime += bid.Number()
		}
	}
}

// Completion is the mean time in seconds from the submission to the recorded end, of those with exit 0, as are Slowdown
// and WCT; NaN if there are none.
func (s *Sums) Completion() float64 { return s.completion / float64(s.Done) }

// Slowdown is the mean of the completion time over the run time.
func (s *Sums) Slowdown() float64 { return s.slowdown / float64(s.Done) }

// WCT is the weighted completion time, (1/n)·Σ bᵢ·Cᵢ [1], in seconds.
func (s *Sums) WCT() float64 { return s.weighted / float64(s.Done) }

// WCR is the weighted completion rate: Σ bᵢ over what was done by its deadline, or had none, over Σ bᵢ of all [1].
func (s *Sums) WCR() float64 { return s.onTime / s.weight }

// Utility is (1/n)·Σ bᵢ·Vᵢ·Sᵢ over all [1], where Vᵢ, 0 to 1, is what a result is worth when it comes, and Sᵢ the size
// in seconds on the reference. What has no deadline is worth all whenever it comes.
func (s *Sums) Utility() float64 { return s.worth / float64(s.Tasks) }

// Tally sums the tasks of a replication. The zero value is empty.
type Tally struct {
	All   Sums
	bands map[int]*Sums // by the power of two up to the bid
	users map[string]*Sums
}

// Add counts a task.
func (t *Tally) Add(x *Task) {
	t.All.add(x)
	sumsOf(&t.bands, math.Ilogb(x.Spec.Bid().Number())).add(x)
	if u := x.Spec.Submitter.User; u != "" {
		sumsOf(&t.users, u).add(x)
	}
}

func sumsOf[K cmp.Ordered](m *map[K]*Sums, k K) *Sums {
	if *m == nil {
		*m = map[K]*Sums{}
	}
	s := (*m)[k]
	if s == nil {
		s = new(Sums)
		(*m)[k] = s
	}
	return s
}

// Bands returns the sums of each band of bids in each tally, by bid. A band is of a factor of two, from a power of two.
func Bands(all []*Tally) [][]*Sums {
	_, sums := merge(all, func(t *Tally) map[int]*Sums { return t.bands })
	return sums
}

// Users returns the users that submitted, by name, and the sums of each in each tally.
func Users(all []*Tally) ([]string, [][]*Sums) {
	return merge(all, func(t *Tally) map[string]*Sums { return t.users })
}

func merge[K cmp.Ordered](all []*Tally, of func(*Tally) map[K]*Sums) (keys []K, sums [][]*Sums) {
	set := map[K]bool{}
	for _, t := range all {
		for k := range of(t) {
			set[k] = true
		}
	}
	keys = slices.Sorted(maps.Keys(set))
	for _, k := range keys {
		row := make([]*Sums, len(all))
		for i, t := range all {
			if row[i] = of(t)[k]; row[i] == nil {
				row[i] = new(Sums)
			}
		}
		sums = append(sums, row)
	}
	return keys, sums
}
