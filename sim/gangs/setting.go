package gangs

import (
	"fmt"
	"slices"
	"time"
)

// Setting is an experiment, and what [1] does not state of its testbed.
type Setting struct {
	Experiment string `yaml:"experiment"` // e1, e2, e3, e4, vectors or counts
	App        string `yaml:"app"`        // life or jacobi
	Sites      int    `yaml:"sites"`      // 1 or 3, of e1 to e4

	Machines []string `yaml:"machines"` // of vectors
	Clusters []int    `yaml:"clusters"` // of counts: machines by site

	Load   Load   `yaml:"load"`
	WAN    WAN    `yaml:"wan"`
	LAN    LAN    `yaml:"lan"`
	Memory Memory `yaml:"memory"`

	// Failures is the part of runs that fail for a reason of their own: a network, an authentication.
	Failures float64 `yaml:"failures"`

	// Margin is what mappers want of memory besides: 0.2 in [1].
	Margin float64 `yaml:"margin"`

	// Latency is by how much the model counts latencies: 0 in [1].
	Latency float64 `yaml:"latency"`

	// Eager: messages leave when they are sent, else when both sides are there. [1] does not say which. With neighbours
	// its formulas are exact of the second, with broadcasts they are near the first.
	Eager bool `yaml:"eager"`

	// MemoryBound has machines wait for memory: those with one bus are equally fast, whatever their clock, and others in
	// proportion to their bus. Else they compute by their clock rates, as the model has it [1, section IV.B.2].
	MemoryBound bool `yaml:"memory_bound"`

	// SlowStart has messages sent by TCP as it was then: with windows that begin again after a pause. The monitor's probes
	// are of a megabyte, which windows hardly delay.
	SlowStart bool `yaml:"slow_start"`

	// Queries are the times of questions to information services, of e4.
	Queries Queries `yaml:"queries"`
}

// Load is what others do on a host: for an exponential time nothing, then for an exponential time something.
type Load struct {
	Left  float64       `yaml:"left"` // the part of a processor that is left while there is load
	Free  time.Duration `yaml:"free"` // mean time without
	Busy  time.Duration `yaml:"busy"` // mean time with; 0 = there is none
	Noise float64       `yaml:"noise"`

	// Bursts are load besides that leaves as much.
	Bursts Spells `yaml:"bursts"`
}

// Spells are exponential times without load and with it.
type Spells struct {
	Free time.Duration `yaml:"free"` // mean time without
	Busy time.Duration `yaml:"busy"` // mean time with; 0 = there is none
}

// WAN is the links between sites. Their bandwidth is log-normal.
type WAN struct {
	Mbps    float64       `yaml:"mbps"`  // median, 10^6 bits a second
	Sigma   float64       `yaml:"sigma"` // of the logarithm
	Every   time.Duration `yaml:"every"` // it is drawn anew so often
	Latency time.Duration `yaml:"latency"`
}

// LAN is the network of a site.
type LAN struct {
	Mbps    float64       `yaml:"mbps"`
	Latency time.Duration `yaml:"latency"`

	// Hubs: the clusters of which [1, Table V.1] says that their Ethernet is shared are one cable each; else every host
	// has a port of its own.
	Hubs bool `yaml:"hubs"`
}

// Memory is how much of it is free: uniform between two parts of what there is.
type Memory struct {
	Free   [2]float64    `yaml:"free"`
	Every  time.Duration `yaml:"every"` // it is drawn anew so often
	Usable float64       `yaml:"usable"`
}

// Queries are seconds of a question, with their coefficient of variation: to the directory about a host, and to the
// monitor about a series of measurements, far away and near.
type Queries struct {
	Directory float64 `yaml:"directory"`
	Remote    float64 `yaml:"remote"`
	Local     float64 `yaml:"local"`
	Variation float64 `yaml:"variation"`

	// Group is the time in which a candidate group is examined, seconds.
	Group float64 `yaml:"group"`
}

var experiments = []string{"counts", "e1", "e2", "e3", "e4", "vectors"}

// Check reports what a setting cannot have.
func (s *Setting) Check() error {
	positive := func(x ...float64) bool { return slices.Min(x) > 0 }
	switch {
	case !slices.Contains(experiments, s.Experiment):
		return fmt.Errorf("experiment %q: want one of %v", s.Experiment, experiments)
	case s.App != "life" && s.App != "jacobi":
		return fmt.Errorf("app %q: want life or jacobi", s.App)
	case s.Experiment == "vectors" || s.Experiment == "counts":
		return s.checkMachines()
	case s.Sites != 1 && s.Sites != 3:
		return fmt.Errorf("sites %d: want 1 or 3", s.Sites)
	case s.Load.Busy < 0 || s.Load.Bursts.Busy < 0:
		return fmt.Errorf("load: want no busy time below 0")
	case s.Load.Busy > 0 && !(positive(s.Load.Left, s.Load.Free.Seconds()) && s.Load.Left <= 1) || s.Load.Noise < 0:
		return fmt.Errorf("load: want left above 0 and at most 1, a free time, and no noise below 0")
	case s.Load.Bursts.Busy > 0 && !(positive(s.Load.Left, s.Load.Bursts.Free.Seconds()) && s.Load.Left <= 1):
		return fmt.Errorf("load: bursts: want left above 0 and at most 1, and a free time")
	case !positive(s.WAN.Mbps, s.WAN.Every.Seconds(), s.WAN.Latency.Seconds()) || s.WAN.Sigma < 0:
		return fmt.Errorf("wan: want mbps, every and latency above 0, and no sigma below 0")
	case !positive(s.LAN.Mbps, s.LAN.Latency.Seconds()):
		return fmt.Errorf("lan: want mbps and latency above 0")
	case !positive(s.Memory.Free[0], s.Memory.Every.Seconds(), s.Memory.Usable) || s.Memory.Free[1] < s.Memory.Free[0]:
		return fmt.Errorf("memory: want free: [least, most], every and usable above 0")
	case !(s.Failures >= 0 && s.Failures < 1 && s.Margin >= 0 && s.Latency >= 0):
		return fmt.Errorf("want failures from 0 to below 1, a margin and a latency from 0 on")
	case s.Experiment == "e4" && !positive(s.Queries.Directory, s.Queries.Remote, s.Queries.Local, s.Queries.Group):
		return fmt.Errorf("queries: want directory, remote, local and group above 0")
	}
	return nil
}

// Sizes are the meshes of an experiment [1, sections V.B to V.E].
func (s *Setting) Sizes() []int {
	switch {
	case s.Experiment == "e4" && s.Sites == 1:
		return []int{4800}
	case s.Experiment == "e4":
		return []int{14_400}
	case s.Sites == 1:
		return []int{600, 1200, 2400, 4800, 7200, 9600}
	case s.Experiment == "e3":
		return []int{600, 4800, 9600, 14_400, 16_800, 19_200}
	}
	return []int{630, 1260, 2448, 4500, 7200, 9000}
}
