package secret

import (
	"time"

	"skep/fifo"
	"skep/grid"
)

// Bounds of what is handed out for one attempt. A worker that was restarted, or whose start lease ran out while it
// asked, asks again.
const (
	MaxTimes    = 4              // for one attempt and secret
	Within      = 1 * time.Hour  // of the first time
	remembered  = 24 * time.Hour // since the first time
	maxAttempts = 1 << 16        // that are remembered
)

// Handed remembers for which attempts secrets were handed out, so that an assignment cannot be redeemed again and
// again. It forgets after a day, with the node's process, and, when there are too many attempts, those whose hour is
// over: then an assignment counts anew. The zero value remembers none.
type Handed struct{ by fifo.Map[handed, times] }

type handed struct {
	secret  ID
	attempt grid.AttemptID
}

type times struct {
	n     int
	first grid.Time
}

// Take counts one more time that a secret is handed out for an attempt, and reports whether it may be.
func (h *Handed) Take(now grid.Time, id ID, attempt grid.AttemptID) bool {
	for h.by.Len() > 0 {
		_, oldest := h.by.Oldest()
		age := now.Sub(oldest.first)
		if age <= remembered && (age <= Within || h.by.Len() < maxAttempts) {
			break
		}
		h.by.RemoveOldest()
	}
	key := handed{id, attempt}
	if t := h.by.Get(key); t != nil {
		if t.n >= MaxTimes || now.Sub(t.first) > Within {
			return false
		}
		t.n++
		return true
	}
	if h.by.Len() >= maxAttempts {
		return false
	}
	h.by.Add(key, times{n: 1, first: now})
	return true
}
