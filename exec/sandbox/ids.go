package sandbox

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Range is a range of user IDs, and of the group IDs of the same numbers.
type Range struct{ First, Count uint32 }

// DefaultRange is far above what systems give to people, services and containers.
var DefaultRange = Range{2_000_000_000, 65_536}

// ParseRange reads FIRST-LAST.
func ParseRange(s string) (Range, error) {
	first, last, ok := strings.Cut(s, "-")
	a, err1 := strconv.ParseUint(strings.TrimSpace(first), 10, 32)
	z, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 32)
	if !ok || err1 != nil || err2 != nil || a == 0 || z < a || z >= math.MaxUint32 {
		return Range{}, fmt.Errorf("user IDs %.64q: want FIRST-LAST, as in %s", s, DefaultRange)
	}
	return Range{uint32(a), uint32(z - a + 1)}, nil
}

// String is the inverse of ParseRange.
func (r Range) String() string { return fmt.Sprintf("%d-%d", r.First, r.First+r.Count-1) }

// holds reports whether a range of n from a on meets r.
func (r Range) holds(a, n uint64) bool {
	return n > 0 && a < uint64(r.First)+uint64(r.Count) && uint64(r.First) < a+n
}

// free reports which account or subordinate range of this machine meets r.
func (r Range) free() error {
	for _, f := range [...]struct {
		path   string
		id, to int // fields: of the first ID, and of how many; no second one = one
	}{{"/etc/passwd", 2, -1}, {"/etc/group", 2, -1}, {"/etc/subuid", 1, 2}, {"/etc/subgid", 1, 2}} {
		file, err := os.Open(f.path)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			fields := strings.Split(lines.Text(), ":")
			if len(fields) <= max(f.id, f.to) {
				continue
			}
			n := uint64(1)
			a, err := strconv.ParseUint(fields[f.id], 10, 32)
			if err == nil && f.to > 0 {
				n, err = strconv.ParseUint(fields[f.to], 10, 32)
			}
			if err == nil && r.holds(a, n) {
				file.Close()
				return fmt.Errorf("user IDs %s: %s has %s in them: want a range that nobody has (task_uids)", r, f.path, fields[0])
			}
		}
		file.Close()
	}
	return nil
}
