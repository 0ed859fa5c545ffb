package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skep/grid"
)

// Pull decides what an idle machine takes, out of tasks that wait in one queue for each class. It may keep
// state and draws only from the randomness it was made with. Its calls come one at a time.
type Pull interface {
	// Next returns the class whose first task machine m starts now; false if m takes none of them and
	// stays idle. Only m.Node counts. heads are the queues that are not empty, and dead after the call.
	Next(now grid.Time, m State, heads []Head) (Class, bool)

	// Note tells the policy what became known: of Rates, where Slots is the part of the machine that is
	// there for such tasks and Rates are those of the whole machine, and of Gone.
	Note(o Outcome)
}

// Class names a class of tasks.
type Class = string

// Head is the first task of a queue.
type Head struct {
	Class Class
	Since grid.Time // when it was submitted, on the decider's clock
}

// NewPull makes a pull policy.
type NewPull func(*Config, *grid.Rand) Pull

var pulls = map[string]NewPull{}

// PullNames lists the pull policies, in order.
func PullNames() []string { return slices.Sorted(maps.Keys(pulls)) }

// MakePull returns the named pull policy. They take no parameters.
func MakePull(name string, c Config, r *grid.Rand) (Pull, error) {
	base, _, has := strings.Cut(name, ":")
	f, ok := pulls[base]
	if !ok {
		return nil, fmt.Errorf("policy %q: is not known: want one of %s", name, strings.Join(PullNames(), ", "))
	}
	if has {
		return nil, fmt.Errorf("policy %q: %s takes no parameter", name, base)
	}
	return f(&c, r), nil
}

// puller is what the pull policies have in common: the rates, and where those who ask stand in them. Machines ask in no
// order, so that each is remembered by the low bits of the first four bytes of its identity.
type puller struct {
	rates rates
	known [64]int32
}

// lookup returns the index of a machine.
func (p *puller) lookup(id *grid.NodeID) (int32, bool) {
	at := &p.known[id[3]%64]
	if int(*at) < len(p.rates.ids) && p.rates.ids[*at] == *id && p.rates.live[*at] {
		return *at, true
	}
	j, ok := p.rates.lookup(id)
	if ok {
		*at = j
	}
	return j, ok
}

// Note keeps the rates.
func (p *puller) Note(o Outcome) {
	switch o.Kind {
	case Rates:
		p.rates.put(o.Node, o.Rates, o.Slots)
	case Gone:
		p.rates.remove(o.Node)
	}
}

// first returns the head with the highest score, the first of equal ones; a score below 0 is out.
func first(heads []Head, score func(*Head) float64) (Class, bool) {
	best, at := -1.0, -1
	for k := range heads {
		if s := score(&heads[k]); s >= 0 && s > best {
			best, at = s, k
		}
	}
	if at < 0 {
		return "", false
	}
	return heads[at].Class, true
}

// age is how long a task has waited, seconds.
func (h *Head) age(now grid.Time) float64 { return max(now.Sub(h.Since).Seconds(), 0) }
