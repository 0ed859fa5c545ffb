package quota

import (
	"fmt"

	"skep/grid"
)

// Amount is what is kept, or is to be.
type Amount struct {
	Bytes     grid.Bytes // of memory and, about as many, of disk
	Registers int        // jobs that this node is a member of
	Tasks     int        // of those, as their specifications say: each is to become an entry
	Offers    int        // attempts accepted and not yet forgotten, their results included
}

// Each bounds an account. The memory and the disk that one node can take up here follow from Bytes; the others see to
// it that nobody has all of what there is a bounded number of. An entry of a task that printed 100 bytes takes about
// 0.7 KB: a job of grid.MaxCount tasks fits, and four such jobs at once if they print little. It is a constant but for
// tests.
var Each = Amount{Bytes: 96 * grid.MiB, Registers: 20_000, Tasks: 4 * grid.MaxCount, Offers: 20_000}

// All bounds all accounts together, each thing counted once. Offers are bounded by the queue that they wait in. It is a
// constant but for tests.
var All = Amount{Bytes: 512 * grid.MiB, Registers: 50_000, Tasks: 40 * grid.MaxCount, Offers: 1 << 30}

// MaxOver bounds the tasks of an account's jobs that are over, as far as they were written.
const MaxOver = grid.MaxCount

// add adds b to a, times times.
func (a *Amount) add(b *Amount, times int) {
	a.Bytes += b.Bytes * grid.Bytes(times)
	a.Registers += b.Registers * times
	a.Tasks += b.Tasks * times
	a.Offers += b.Offers * times
}

// beyond names the first of the quantities that b asks for of which a and b are more than most allows; "" = none.
func (a *Amount) beyond(b, most *Amount) string {
	switch {
	case b.Bytes > 0 && a.Bytes+b.Bytes > most.Bytes:
		return fmt.Sprintf("%.1f of at most %.1f MiB are in use", mebi(a.Bytes), mebi(most.Bytes))
	case b.Registers > 0 && a.Registers+b.Registers > most.Registers:
		return fmt.Sprintf("%d of at most %d jobs are kept", a.Registers, most.Registers)
	case b.Tasks > 0 && a.Tasks+b.Tasks > most.Tasks:
		return fmt.Sprintf("%d of at most %d tasks of jobs are kept", a.Tasks, most.Tasks)
	case b.Offers > 0 && a.Offers+b.Offers > most.Offers:
		return fmt.Sprintf("%d of at most %d attempts are here", a.Offers, most.Offers)
	}
	return ""
}

func mebi(b grid.Bytes) float64 { return float64(b) / float64(grid.MiB) }
