package process

import (
	"bytes"
	"os"
	"path"
	"strconv"
)

// quota is how many cores the control group of this process and those that it is in may take at most, by the unified
// hierarchy (cpu.max of cgroup v2), or by the old one where that is all; 0 = no bound.
func quota(self, root string) (least float64) {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0
	}
	bound := func(cores float64) {
		if cores > 0 && (least == 0 || cores < least) {
			least = cores
		}
	}
	for line := range bytes.Lines(text) {
		fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3) // number:controllers:path
		if len(fields) < 3 {
			continue
		}
		for at := path.Clean("/" + string(fields[2])); ; at = path.Dir(at) {
			switch {
			case len(fields[1]) == 0:
				bound(ratio(path.Join(root, at, "cpu.max")))
			case bytes.Contains(fields[1], []byte("cpu")):
				period := single(path.Join(root, "cpu", at, "cpu.cfs_period_us"))
				if q := single(path.Join(root, "cpu", at, "cpu.cfs_quota_us")); period > 0 {
					bound(q / period)
				}
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
