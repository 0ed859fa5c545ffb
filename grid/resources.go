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
}

// Fits reports whether need can be taken out of r.
func (r Resources) Fits(need Resources) bool { return need.CPU <= r.CPU && need.Memory <= r.Memory }

// Plus returns r + s.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPU: r.CPU + s.CPU, Memory: r.Memory + s.Memory}
}

// Minus returns r − s.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPU: r.CPU - s.CPU, Memory: r.Memory - s.Memory}
}

// String prints cores and mebibytes.
func (r Resources) String() string {
	return fmt.Sprintf("%g cpu, %d MiB", float64(r.CPU)/1000, r.Memory/MiB)
}
