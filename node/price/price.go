package price

import (
	"math"

	"skep/balance"
	"skep/balance/market"
	"skep/exec"
	"skep/grid"
)

// Asked is what a node asks. It changes when what runs does (Follow), and with time.
type Asked struct {
	here    *exec.Exec
	asks    bool
	reserve market.Reserve
}

// New returns what a node asks of which nothing has run: a reserve price if its own policy has one.
func New(here *exec.Exec, policy string) Asked {
	discount, asks := balance.ReservePrice(policy)
	return Asked{here: here, asks: asks, reserve: market.NewReserve(discount)}
}

// Follow says that what runs may have changed.
func (a *Asked) Follow(now grid.Time) {
	if !a.asks {
		return
	}
	earning, cores, began := a.here.Earns(now)
	a.reserve.Runs(seconds(now), earning, cores, a.here.Free().CPU >= min(grid.CPU, a.here.Capacity().CPU))
	if began {
		a.reserve.Began(seconds(now))
	}
}

// Ran says how long a task ran.
func (a *Asked) Ran(seconds float64) { a.reserve.Ended(seconds) }

// Price returns the reserve price; 0 = none is asked.
func (a *Asked) Price(now grid.Time) grid.Bid {
	if !a.asks {
		return 0
	}
	return grid.Bid(min(math.Floor(a.reserve.Price(seconds(now))*float64(grid.UsualBid)), float64(grid.MaxBid)))
}

// Falling reports whether the price falls with time alone.
func (a *Asked) Falling(now grid.Time) bool { return a.asks && a.reserve.Falling(seconds(now)) }

// Quote is what is told to those who poll for a task that bids.
func (a *Asked) Quote(now grid.Time) grid.Quote {
	q := a.here.Quote(now)
	q.Price = a.Price(now)
	return q
}

func seconds(t grid.Time) float64 { return float64(t) / 1e9 }
