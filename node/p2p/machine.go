package p2p

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	ds "github.com/ipfs/go-datastore"

	"skep/exec/process"
	"skep/grid"
)

// machineLabels returns the labels of the machine, in no order.
func machineLabels(version string) []grid.Label {
	labels := []grid.Label{{Key: "os", Value: runtime.GOOS}, {Key: "arch", Value: runtime.GOARCH}}
	if host, err := os.Hostname(); err == nil && host != "" {
		labels = append(labels, grid.Label{Key: "hostname", Value: host[:min(len(host), grid.MaxLabel)]})
	}
	if version != "" {
		labels = append(labels, grid.Label{Key: "skep.version", Value: version[:min(len(version), grid.MaxLabel)]})
	}
	return labels
}

// capacity returns what tasks may take. Where the operator set nothing: all cores that this process may use, and
// three quarters of the memory of the machine, or of the control group's limit, as in a container.
func (c *Config) capacity() (grid.Resources, error) {
	total, free := memory()
	r := grid.Resources{CPU: c.CPUs, Memory: c.Memory}
	if r.CPU == 0 {
		r.CPU = grid.MilliCPU(runtime.NumCPU()) * grid.CPU
	}
	if r.Memory == 0 {
		if most := process.MemoryBound(); most > 0 {
			total, free = min(total, most), min(free, most)
		}
		r.Memory = max(total/4*3, min(free, 256*grid.MiB))
	}
	if r.CPU < 0 || r.CPU > grid.MaxMillis {
		return r, fmt.Errorf("cpus %g: want more than 0 and at most %d", float64(r.CPU)/1000, grid.MaxMillis/1000)
	}
	if r.Memory < 0 || r.Memory > grid.MaxMemory {
		return r, fmt.Errorf("memory %d: want more than 0 and at most %d bytes", r.Memory, int64(grid.MaxMemory))
	}
	return r, nil
}

// memory returns the machine's total and free memory from /proc; 1 GiB each where there is none.
func memory() (total, free grid.Bytes) {
	total, free = grid.GiB, grid.GiB
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return total, free
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var kib int64
		if n, _ := fmt.Sscanf(line, "%s %d", &name, &kib); n != 2 {
			continue
		}
		switch name {
		case "MemTotal:":
			total = grid.Bytes(kib) * grid.KiB
		case "MemAvailable:":
			free = grid.Bytes(kib) * grid.KiB
		}
	}
	return total, free
}

// fixedLabels are properties of the machine, which the operator cannot override.
var fixedLabels = []string{"os", "arch", grid.IsolationLabel}

// isFixed reports whether a label is one of fixedLabels.
func isFixed(key string) bool {
	return slices.ContainsFunc(fixedLabels, func(k string) bool { return strings.EqualFold(k, key) })
}

// isolationLabel returns the node's label of an isolation level, which needs can name.
func isolationLabel(level grid.Isolation) grid.Label {
	return grid.Label{Key: grid.IsolationLabel, Value: level.String()}
}

// Calibration: a fixed mix of integer, floating point and memory work on one core. Speed 1 does
// referenceRounds rounds in a second, about one core of a virtual server of 2025; 2 is twice as fast.
const (
	calibrationVersion = 1 // raise it when the mix changes: saved calibrations are then repeated
	referenceRounds    = 9000
	calibrationTime    = 100 * time.Millisecond
)

var speedKey = ds.NewKey("/calibration")

// speed returns the calibration saved on disk, and calibrates if there is none of this version.
func (d *Driver) speed() (float64, error) {
	var kept struct {
		Version int
		Speed   float64
	}
	data := d.store.Datastore()
	if b, err := data.Get(d.work.Context(), speedKey); err == nil && json.Unmarshal(b, &kept) == nil &&
		kept.Version == calibrationVersion && kept.Speed > 0 {
		return kept.Speed, nil
	}
	kept.Version, kept.Speed = calibrationVersion, calibrate()
	b, err := json.Marshal(kept)
	if err == nil {
		err = data.Put(d.work.Context(), speedKey, b)
	}
	if err != nil {
		return 0, fmt.Errorf("keep calibration: %w", err)
	}
	return kept.Speed, nil
}

// calibrate measures the speed of one core: the best of some short runs, since other load can only slow it down.
func calibrate() float64 {
	table := make([]uint64, 1<<17) // 1 MiB: more than the first-level caches
	for i := range table {
		table[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	best := math.Inf(1)
	for start := time.Now(); time.Since(start) < calibrationTime; {
		const rounds = 10
		began := time.Now()
		for range rounds {
			round(table)
		}
		best = min(best, time.Since(began).Seconds()/rounds)
	}
	return min(max(1/(best*referenceRounds), 1e-3), 1e3)
}

// round is one round of the mix; it stores its result so that the compiler cannot remove it.
func round(table []uint64) {
	x, f := table[0]|1, 1.0
	for i := range 60_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		f = f*0.999 + float64(x&1023)/float64(i+1)
		if i&3 == 0 {
			j := x & uint64(len(table)-1)
			table[j] += x
		}
	}
	table[0] = x ^ math.Float64bits(f)
}
