package reallocation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"skep/grid"
)

// Data is what tasks need beside processors: their inputs are copied from one store to a cluster before they compute
// there, and take space on it [1, chapter 6]. Its zero value has no inputs.
type Data struct {
	// Storage is the space for inputs on each cluster, GB.
	Storage []float64 `yaml:"storage"`

	// Gigabyte is the number of MB in a GB of storage. [1] says that above a factor of 64 a cluster of 16 processors and
	// 100 GB cannot be filled with the smallest inputs, which is so with 1024.
	Gigabyte float64 `yaml:"gigabyte"`

	// Bandwidth is between a cluster and the store, Mbit/s, uniform between both, fixed in an experiment. Transfers do not
	// share it. [1] does not say whether they do.
	Bandwidth [2]float64 `yaml:"bandwidth"`

	// Size is that of a task's inputs, MB, uniform between both, times the factor of an experiment.
	Size [2]float64 `yaml:"size"`

	// Remaining says whether the remaining time of utility functions is of the "computation" alone or of the "whole", with
	// what is still to be copied. [1] does not say.
	Remaining string `yaml:"remaining"`

	// Sticky: inputs that are on a cluster already take no time in the utility of an option there. In [1] they count as if
	// they had to be copied.
	Sticky bool `yaml:"sticky"`

	// Counted says how long a transfer is that was broken off by a move: as long as it "lasted" or "whole". [1] does not
	// say.
	Counted string `yaml:"counted"`

	// Head is the option that fcfs takes of those that fit: the "first" or "any". [1] calls it arbitrary.
	Head string `yaml:"head"`
}

// on reports whether tasks have inputs.
func (d *Data) on() bool { return len(d.Storage) > 0 }

// check reports what cannot be.
func (d *Data) check(clusters int) error {
	if !d.on() {
		return nil
	}
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(len(d.Storage) == clusters, "data.storage: %d clusters: want one number for each of %d", len(d.Storage), clusters)
	for _, s := range d.Storage {
		want(s > 0 && s <= 1e9, "data.storage: %v: want GB above 0, at most 1e9", s)
	}
	between := func(name string, x [2]float64) {
		want(x[0] > 0 && x[0] <= x[1] && x[1] <= 1e9, "data.%s %v: want [least, most] above 0, at most 1e9", name, x)
	}
	between("bandwidth", d.Bandwidth)
	between("size", d.Size)
	want(d.Gigabyte > 0 && d.Gigabyte <= 1e6, "data.gigabyte %v: want MB above 0, as in 1024", d.Gigabyte)
	want(slices.Contains([]string{"computation", "whole"}, d.Remaining), "data.remaining %.40q: want computation or whole",
		d.Remaining)
	want(slices.Contains([]string{"lasted", "whole"}, d.Counted), "data.counted %.40q: want lasted or whole", d.Counted)
	want(slices.Contains([]string{"first", "any"}, d.Head), "data.head %.40q: want first or any", d.Head)
	return errors.Join(errs...)
}

// input is what a task needs on the cluster where it runs.
type input struct {
	size    float64 // MB
	at      int     // cluster that has it, or to which it is copied
	missing float64 // MB that are still to be copied to that cluster
}

// nowhere is the cluster of an input that has not been copied, or was deleted.
const nowhere = -1

// stage tells of an input that its task is to run on a cluster. Elsewhere it is deleted. It returns what has to be
// copied.
func (i *input) stage(cluster int) float64 {
	if i.at != cluster {
		i.at, i.missing = cluster, i.size
		return i.missing
	}
	return 0
}

// to is what has to be copied so that the input is on a cluster.
func (i *input) to(cluster int) float64 {
	if i.at == cluster {
		return i.missing
	}
	return i.size
}

// storage is the space of the clusters, and the way to them.
type storage struct {
	data  *Data
	space []float64 // MB that are free on each cluster
	rate  []float64 // MB a second from the store
	spent float64   // seconds of all transfers so far
	any   *grid.Rand
	order []int // scratch: options of a task
}

// newStorage draws the bandwidths of an experiment.
func newStorage(d *Data, seed uint64) storage {
	s := storage{data: d, any: grid.NewRand(seed, streamHeads)}
	r := grid.NewRand(seed, streamBandwidth)
	for _, gb := range d.Storage {
		s.space = append(s.space, gb*d.Gigabyte)
		s.rate = append(s.rate, (d.Bandwidth[0]+(d.Bandwidth[1]-d.Bandwidth[0])*r.Float64())/8)
	}
	return s
}

// has reports whether a cluster has space for an input.
func (s *storage) has(cluster int, size float64) bool {
	return !s.data.on() || size <= s.space[cluster]+slack
}

// slack is what rounding may leave, MB.
const slack = 1e-6

// takes is how long it takes to copy so much to a cluster.
func (s *storage) takes(cluster int, size float64) float64 {
	if size == 0 {
		return 0
	}
	return size / s.rate[cluster]
}

// enter gives an input space on a cluster.
func (s *storage) enter(cluster int, i *input) {
	if !s.data.on() {
		return
	}
	if !s.has(cluster, i.size) {
		panic("reallocation: a task starts where there is no space for its inputs")
	}
	s.space[cluster] -= i.size
	if begun := i.stage(cluster); s.data.Counted == "whole" {
		s.spent += s.takes(cluster, begun)
	}
}

// leave takes the space back after so many seconds, and returns how many of them went into copying.
func (s *storage) leave(cluster int, i *input, elapsed float64) (copying float64) {
	if !s.data.on() {
		return 0
	}
	s.space[cluster] += i.size
	need := s.takes(cluster, i.missing)
	if copying = min(elapsed, need); copying == need {
		i.missing = 0
	} else {
		i.missing -= copying * s.rate[cluster]
	}
	if s.data.Counted == "lasted" {
		s.spent += copying
	}
	return copying
}

// nearest starts tasks as fcfs does, each with the option by which it is copied and computed soonest: what [1] calls
// data FCFS.
func (e *engine) nearest(t *task) int {
	e.storage.order = e.storage.order[:0]
	for x := range t.options {
		e.storage.order = append(e.storage.order, x)
	}
	slices.SortStableFunc(e.storage.order, func(a, b int) int {
		return cmp.Compare(e.lasts(t, &t.options[a]), e.lasts(t, &t.options[b]))
	})
	for _, x := range e.storage.order {
		if e.fits(t, &t.options[x]) {
			return x
		}
	}
	return -1
}

// anyOption is one of the options that fit; -1 = none does.
func (e *engine) anyOption(t *task) int {
	e.storage.order = e.storage.order[:0]
	for x := range t.options {
		if e.fits(t, &t.options[x]) {
			e.storage.order = append(e.storage.order, x)
		}
	}
	if len(e.storage.order) == 0 {
		return -1
	}
	return e.storage.order[e.storage.any.IntN(len(e.storage.order))]
}

// head is the option that the head of the line takes under fcfs and data_fcfs.
func (e *engine) head(t *task) int {
	switch {
	case e.strategy.Name == "data_fcfs":
		return e.nearest(t)
	case e.system.Data.Head == "any":
		return e.anyOption(t)
	}
	return e.fitting(t)
}

// inputs gives tasks their inputs and values uniform on [0, 1] [1, section 6.5], and takes away options where the
// inputs would never have space.
func (s *System) inputs(tasks []task, factor float64, seed uint64) error {
	r := grid.NewRand(seed, streamInputs)
	for k := range tasks {
		t, d := &tasks[k], &s.Data
		size := factor * (d.Size[0] + (d.Size[1]-d.Size[0])*r.Float64())
		worth := 1 - r.Float64()
		t.input = input{size: size, at: nowhere}
		t.options = slices.DeleteFunc(t.options, func(o option) bool { return size > d.Storage[o.cluster]*d.Gigabyte })
		if len(t.options) == 0 {
			return fmt.Errorf("a factor of %v: inputs of %.0f MB have space on no cluster", factor, size)
		}
		t.fewest = math.MaxInt
		for x := range t.options {
			o := &t.options[x]
			o.value *= worth / t.value
			t.fewest = min(t.fewest, o.procs)
		}
		t.value = worth
	}
	return nil
}
