package federation

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goccy/go-yaml"
)

// System is the grid and its tasks.
type System struct {
	Sites []int `yaml:"sites"` // processors of each

	// Mean is the mean duration of a task, seconds; the durations are lognormal with a deviation of Spread times that.
	Mean   float64 `yaml:"mean"`
	Spread float64 `yaml:"spread"`

	// Local is which part of its processors the users of a site keep busy by themselves. Widths are what a task of
	// theirs needs of them, drawn evenly; tasks of the grid need one.
	Local  float64 `yaml:"local"`
	Widths []int   `yaml:"widths"`

	Adverts float64 `yaml:"adverts"` // time between two of a site, seconds

	// Estimates is what a site expects of a task's duration: "exact", "guessed" (it is off by a factor, lognormal with a
	// deviation of as much as the mean) or "unknown" (the mean of those that have ended there).
	Estimates string `yaml:"estimates"`

	// Penalty is by which multiple of Tavg/C a site counts as worse for each task that it has not told of yet.
	Penalty float64 `yaml:"penalty"`

	Data *Data `yaml:"data"` // nil = tasks need no files
}

// Data is where the files are. Each task needs one.
type Data struct {
	Stores  int     `yaml:"stores"`
	Copies  int     `yaml:"copies"`  // of a file, at stores that are drawn evenly
	Size    float64 `yaml:"size"`    // of a file, bytes
	Rate    float64 `yaml:"rate"`    // mean bandwidth between a site and a store, bytes a second; exponential
	Failing int     `yaml:"failing"` // how many of the stores fail; the others never do
	Down    float64 `yaml:"down"`    // part of the time in which each of these is down
	Outage  float64 `yaml:"outage"`  // mean time that one is down, seconds

	Measured float64 `yaml:"measured"` // time between two measurements of all bandwidths, seconds

	// Other is how likely a task fails for another reason: "before" its transfer or "after" it, as OtherAt says.
	Other   float64 `yaml:"other"`
	OtherAt string  `yaml:"other_at"`

	// Unreachable says what is done under ranks by data with a task whose file no site can have, as far as is known: the
	// broker has it "wait", or it is "sent" somewhere all the same.
	Unreachable string `yaml:"unreachable"`

	GiveUp float64 `yaml:"give_up"` // after which a transfer from a store that is down fails, seconds
}

// maxSites bounds the sites of a system.
const maxSites = 100

var (
	estimates    = []string{"exact", "guessed", "unknown"}
	whens        = []string{"before", "after"}
	unreachables = []string{"wait", "sent"}
)

// Default is what a file leaves out: a tenth of the grid of [1], with tasks of an hour.
func Default() *System {
	return &System{Sites: []int{100, 60, 40, 30, 20}, Mean: 3600, Spread: 1, Local: 0.5, Widths: []int{1}, Adverts: 300,
		Estimates: "exact", Penalty: 1}
}

// defaultData has half of all tasks fail where nobody looks, nine tenths of them for a store.
func defaultData() Data {
	return Data{Stores: 10, Copies: 1, Size: 1e9, Rate: 10e6, Failing: 5, Down: 2 * 0.45 / 0.95, Outage: 86_400,
		Measured: 3600, Other: 0.05, OtherAt: "before", Unreachable: "wait", GiveUp: 600}
}

// UnmarshalYAML fills what a file leaves out.
func (d *Data) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Data
	p := plain(defaultData())
	if err := unmarshal(&p); err != nil {
		return err
	}
	*d = Data(p)
	return nil
}

// Read reads a system from a YAML file; name is the file's, for errors.
func Read(name string, b []byte) (*System, error) {
	s := Default()
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Check reports everything that a system cannot have.
func (s *System) Check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	between := func(name string, x, low, high float64) {
		want(x >= low && x <= high, "%s %v: want from %v to %v", name, x, low, high)
	}
	least := math.MaxInt
	want(len(s.Sites) > 0 && len(s.Sites) <= maxSites, "sites: there are %d: want 1 to %d", len(s.Sites), maxSites)
	for _, c := range s.Sites {
		want(c > 0 && c <= 1e5, "sites: %d processors: want from 1 to 1e5", c)
		least = min(least, c)
	}
	want(len(s.Widths) > 0, "widths: want one")
	for _, w := range s.Widths {
		want(w > 0 && w <= least, "widths: %d processors: want from 1 to those of the smallest site", w)
	}
	between("mean", s.Mean, 1, 1e7)
	between("spread", s.Spread, 0, 10)
	between("local", s.Local, 0, 1)
	between("adverts", s.Adverts, 1, 1e6)
	between("penalty", s.Penalty, 0, 1e3)
	want(slices.Contains(estimates, s.Estimates), "estimates %.40q: want one of %v", s.Estimates, estimates)
	if d := s.Data; d != nil {
		want(d.Stores > 0 && d.Stores <= 1000, "data.stores %d: want from 1 to 1000", d.Stores)
		want(d.Copies > 0 && d.Copies <= d.Stores, "data.copies %d: want from 1 to the stores", d.Copies)
		want(d.Failing >= 0 && d.Failing <= d.Stores, "data.failing %d: want from 0 to the stores", d.Failing)
		between("data.size", d.Size, 1, 1e15)
		between("data.rate", d.Rate, 1, 1e12)
		between("data.down", d.Down, 0, 0.999)
		between("data.outage", d.Outage, 1, 1e9)
		between("data.measured", d.Measured, 1, 1e9)
		between("data.other", d.Other, 0, 1)
		between("data.give_up", d.GiveUp, 0, 1e6)
		want(slices.Contains(whens, d.OtherAt), "data.other_at %.40q: want one of %v", d.OtherAt, whens)
		want(slices.Contains(unreachables, d.Unreachable), "data.unreachable %.40q: want one of %v", d.Unreachable,
			unreachables)
	}
	return errors.Join(errs...)
}
