package grid

import "fmt"

// MilliCPU counts processor cores in thousandths.
type MilliCPU int64

// Bytes counts memory, disk or network volume.
type Bytes int64

// Common sizes.
const (
	KiB Bytes    = 1 << 10
	MiB Bytes    = 1 << 20
	GiB Bytes    = 1 << 30
	CPU MilliCPU = 1000
)

// Resources are what a node has and a task needs.
type Resources struct {
	CPU    MilliCPU
	Memory Bytes
	Counts Counts
}

// Fits reports whether need can be taken out of r.
func (r Resources) Fits(need Resources) bool {
	return r.FitsPlain(need) && (need.Counts == "" || r.Counts.Fits(need.Counts))
}

// FitsPlain reports whether need can be taken out of r as far as no counted resource is concerned.
func (r Resources) FitsPlain(need Resources) bool {
	return need.CPU <= r.CPU && need.Memory <= r.Memory
}

// Plus returns r + s.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPU: r.CPU + s.CPU, Memory: r.Memory + s.Memory, Counts: r.Counts.plus(1, s.Counts)}
}

// Minus returns r − s.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPU: r.CPU - s.CPU, Memory: r.Memory - s.Memory, Counts: r.Counts.plus(-1, s.Counts)}
}

// String prints cores, mebibytes and counted resources.
func (r Resources) String() string {
	text := fmt.Sprintf("%g cpu, %d MiB", float64(r.CPU)/1000, r.Memory/MiB)
	for kind, n := range r.Counts.All() {
		text += fmt.Sprintf(", %d %s", n, kind)
	}
	return text
}
