package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"skep/exec/process"
	"skep/grid"
)

// Capacity returns what tasks may take, as far as the operator set it; 0 = all cores that this process may use, and
// three quarters of the memory of the machine, or of the control group's limit, as in a container.
func Capacity(r grid.Resources) (grid.Resources, error) {
	total, free := memory()
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
