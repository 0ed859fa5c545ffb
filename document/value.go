package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"skep/grid"
)

// What values may be is the same in every file and flag; the errors say it.

// ParseBool parses true or false.
func ParseBool(t string) (bool, error) {
	x, err := strconv.ParseBool(t)
	if err != nil {
		return false, fmt.Errorf("%.40q: want true or false", t)
	}
	return x, nil
}

// ParseCores parses a number of cores.
func ParseCores(t string) (float64, error) {
	c, err := strconv.ParseFloat(t, 64)
	if err != nil || !(c >= 0.001 && c <= grid.MaxMillis/1000) {
		return 0, fmt.Errorf("%.40q: want cores, from 0.001 to %d", t, grid.MaxMillis/1000)
	}
	return c, nil
}

// ParseSize parses a size such as 256MiB.
func ParseSize(t string) (int64, error) {
	n, err := humanize.ParseBytes(t)
	if err != nil || n > uint64(grid.MaxMemory) || strings.HasPrefix(strings.TrimSpace(t), "-") {
		return 0, fmt.Errorf("%.40q: want a size up to %s, as in 256MiB or 2GB", t, humanize.IBytes(uint64(grid.MaxMemory)))
	}
	return int64(n), nil
}

// ParseMemory parses a size of memory of a task. A number without a unit is refused, but 0: whoever writes 512 does not
// mean bytes.
func ParseMemory(t string) (int64, error) {
	n, err := ParseSize(t)
	if err == nil && n > 0 && strings.TrimRight(t, "0123456789.") == "" {
		return 0, fmt.Errorf("%.40q: has no unit: want %.40sMiB or %.40sGiB, or with B if bytes are meant", t, t, t)
	}
	return n, err
}

// maxDays bounds a length of time that is given in days: ten years.
const maxDays = 3650

// ParseDays parses a length of time that may have days, as in 30d or 1d12h.
func ParseDays(t string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, found := strings.Cut(t, "d")
	if !found {
		days, rest = "0", t
	}
	n, err := strconv.ParseUint(days, 10, 16)
	d := time.Duration(0)
	if err == nil && (rest != "" || !found) {
		d, err = time.ParseDuration(rest)
	}
	if d += time.Duration(n) * day; err != nil || d < time.Duration(n)*day || n > maxDays || d > maxDays*day {
		return 0, fmt.Errorf("%.40q: want a length of time up to %dd, as in 30d or 12h", t, maxDays)
	}
	return d, nil
}

// ParseTimeout parses a duration such as 10m, in seconds.
func ParseTimeout(t string) (float64, error) {
	d, err := time.ParseDuration(t)
	if s, ferr := strconv.ParseFloat(t, 64); err != nil && ferr == nil && s >= 0 && !math.IsInf(s, 0) {
		d, err = grid.Seconds(s), nil
	}
	if err != nil || d < 0 || d > grid.MaxTimeout {
		return 0, fmt.Errorf("%.40q: want a length of time up to %v, as in 90s or 10m", t, grid.MaxTimeout)
	}
	return d.Seconds(), nil
}

// ParseBound parses CLASS=TIME:NEXT; a class may contain an equals sign.
func ParseBound(t string) (class string, within time.Duration, next string, err error) {
	i := strings.LastIndexByte(t, '=')
	long, next, ok := strings.Cut(t[i+1:], ":")
	seconds, err := ParseTimeout(long)
	if i < 1 || !ok || err != nil || seconds <= 0 || next == "" || next == t[:i] {
		return "", 0, "", fmt.Errorf("%.80q: want TIME:NEXT for a class, as in small=90s:large", t)
	}
	return t[:i], grid.Seconds(seconds), next, nil
}
