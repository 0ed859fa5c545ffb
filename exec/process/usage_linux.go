package process

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// ticks is how many units a second has in which the kernel tells processor times: 100 on every architecture.
const ticks = 100

// CPU is the processor time of all tasks so far, with what they started and have not left behind; false where the
// system does not tell. While there are tasks it takes a pass over the process table.
func (r *Runner) CPU() (time.Duration, bool) {
	r.mu.Lock()
	sum := r.used
	r.mu.Unlock()
	return sum + r.watch.spentBy(), true
}

// spent is the processor time of a process and of the children that it has waited for.
func spent(root string, pid int) time.Duration {
	stat, err := readSome(fmt.Sprintf("%s/%d/stat", root, pid), 1024)
	if err != nil {
		return 0
	}
	i := bytes.LastIndexByte(stat, ')') // the name before it may hold anything
	if i < 0 {
		return 0
	}
	var sum int64
	for _, field := range [...]int{12, 13, 14, 15} { // utime, stime, cutime, cstime, counted from the state
		sum += number(stat[i:], field)
	}
	return time.Duration(sum) * time.Second / ticks
}

// Cores is what the processors of the whole machine have done since it started.
type Cores struct {
	Count int // of them
	// of all of them together; what runs at a lower priority by its own wish is not counted: it gives way
	Busy  time.Duration
	Want  int     // how many threads want one at this moment, the caller's among them
	Quota float64 // cores that the node's control group may take at most; 0 = all
}

// ReadCores looks at them.
func ReadCores() (c Cores, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c, false
	}
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("cpu ")):
			for _, field := range [...]int{1, 3, 6, 7, 8} { // user, system, irq, softirq, steal; not nice, idle, iowait
				c.Busy += time.Duration(number(line, field)) * time.Second / ticks
			}
		case bytes.HasPrefix(line, []byte("cpu")):
			c.Count++
		case bytes.HasPrefix(line, []byte("procs_running ")):
			c.Want = int(number(line, 1))
		}
	}
	c.Quota = quota("/proc/self/cgroup", "/sys/fs/cgroup")
	return c, c.Count > 0 && c.Busy > 0
}
