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
	maxAttempts = 1 << 16        // that are remembered, of the secrets of all owners
)

// Handed remembers for which attempts secrets were handed out, so that an assignment cannot be redeemed again and
// again. It forgets after a day, with the node's process, and, when there are too many attempts, the oldest of the
// owner whose secrets have the most: then an assignment counts anew. So whoever sets a secret and redeems it for ever
// more attempts takes no place of others. The zero value remembers none.
type Handed struct {
	of map[grid.NodeID]*fifo.Map[handed, times] // by owners of secrets; none is empty
	n  int                                      // of all
}

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
	for by := h.of[id.Owner]; by != nil && by.Len() > 0; {
		if _, oldest := by.Oldest(); now.Sub(oldest.first) <= remembered {
			break
		}
		h.removeOldest(id.Owner)
	}
	key := handed{id, attempt}
	if by := h.of[id.Owner]; by != nil {
		if t := by.Get(key); t != nil {
			if t.n >= MaxTimes || now.Sub(t.first) > Within {
				return false
			}
			t.n++
			return true
		}
	}
	if h.n >= maxAttempts {
		h.removeOldest(h.heaviest())
	}
	if h.of == nil {
		h.of = map[grid.NodeID]*fifo.Map[handed, times]{}
	}
	if h.of[id.Owner] == nil {
		h.of[id.Owner] = &fifo.Map[handed, times]{}
	}
	h.of[id.Owner].Add(key, times{n: 1, first: now})
	h.n++
	return true
}

// heaviest returns the owner of whose secrets the most attempts are remembered.
func (h *Handed) heaviest() (owner grid.NodeID) {
	most := 0
	for id, by := range h.of { // in any order: of equal ones it is the first by its ID
		if n := by.Len(); n > most || n == most && id.Compare(owner) < 0 {
			owner, most = id, n
		}
	}
	return owner
}

func (h *Handed) removeOldest(owner grid.NodeID) {
	by := h.of[owner]
	by.RemoveOldest()
	if h.n--; by.Len() == 0 {
		delete(h.of, owner)
	}
}
