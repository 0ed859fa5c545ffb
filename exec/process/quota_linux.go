package process

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"skep/grid"
)

// quota is how many cores the control group of this process and those that it is in may take at most, by the unified
// hierarchy (cpu.max of cgroup v2), or by the old one where that is all; 0 = no bound.
func quota(self, root string) float64 {
	return least(self, "cpu", func(old bool, at string) float64 {
		if !old {
			return ratio(path.Join(root, at, "cpu.max"))
		}
		if period := single(path.Join(root, "cpu", at, "cpu.cfs_period_us")); period > 0 {
			return single(path.Join(root, "cpu", at, "cpu.cfs_quota_us")) / period
		}
		return 0
	})
}

// MemoryBound is how much memory the node's control group and those that it is in may take at most; 0 = no bound.
func MemoryBound() grid.Bytes { return memoryBound("/proc/self/cgroup", "/sys/fs/cgroup") }

func memoryBound(self, root string) grid.Bytes {
	b := least(self, "memory", func(old bool, at string) float64 {
		if old {
			return single(path.Join(root, "memory", at, "memory.limit_in_bytes"))
		}
		return single(path.Join(root, at, "memory.max")) // a word, max, for none
	})
	if b >= 1<<62 { // how the old hierarchy says that there is none
		return 0
	}
	return grid.Bytes(b)
}

// least is the least bound above 0 of the groups that a process is in, from the innermost outwards, by the unified
// hierarchy or the old one of a controller; 0 = there is none.
func least(self, controller string, bound func(old bool, at string) float64) (least float64) {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3) // number:controllers:path
		if len(fields) < 3 {
			continue
		}
		old := len(fields[1]) > 0
		if old && !slices.Contains(strings.Split(string(fields[1]), ","), controller) {
			continue
		}
		for at := path.Clean("/" + string(fields[2])); ; at = path.Dir(at) {
			if b := bound(old, at); b > 0 && (least == 0 || b < least) {
				least = b
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// ratio reads a file that says a quota and a period, as "200000 100000", or "max 100000" for none.
func ratio(name string) float64 {
	b, _ := os.ReadFile(name)
	if f := bytes.Fields(b); len(f) == 2 {
		q, err1 := strconv.ParseFloat(string(f[0]), 64)
		p, err2 := strconv.ParseFloat(string(f[1]), 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 {
			return q / p
		}
	}
	return 0
}

// single reads a file that says one number; 0 where it does not.
func single(name string) float64 {
	b, _ := os.ReadFile(name)
	x, err := strconv.ParseFloat(string(bytes.TrimSpace(b)), 64)
	if err != nil {
		return 0
	}
	return x
}
