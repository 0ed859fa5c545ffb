package demo

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"skep/internal/cputime"
)

// leastSpare is the cores' worth of processor time that a comparison needs: the tasks take less than one core while
// they arrive, the nodes and this program some more. Of one core nobody can have more than that.
var leastSpare = min(1.2, 0.8*float64(runtime.NumCPU()))

// measured is how long spare looks before and after the tasks.
const measured = 100 * time.Millisecond

// spare returns how many cores' worth of processor time other programs leave now: what as many threads as there are
// cores get in a moment.
func spare(moment time.Duration) float64 {
	before, began := cputime.Used(), time.Now()
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for time.Since(began) < moment {
			}
		})
	}
	wg.Wait()
	return float64(cputime.Used()-before) / float64(time.Since(began))
}

// busyNote says that a comparison means little, if other programs left too little of the processors.
func busyNote(left float64) string {
	if left >= leastSpare {
		return ""
	}
	return fmt.Sprintf("\nThis machine is too busy to compare: other programs leave %.2g cores' worth of time, and the "+
		"nodes need %.2g.\nThe times above tell more of those programs than of the grid: run it again when less runs here.\n",
		left, leastSpare)
}
