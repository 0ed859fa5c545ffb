package discovery

import (
	"slices"
	"time"

	"skep/grid"
)

// Bounds of what is learnt about one kind of request.
const (
	maxProviders = 4
	maxFails     = 2 // a provider that failed as often in a row is forgotten
)

// experience is the nodes that met requests before, by kind of request.
type experience struct {
	keys    []uint64 // of lessons, contiguous because they are scanned
	lessons []lesson
}

type lesson struct {
	at        grid.Time // of the last request met
	providers []provider
}

// provider is a node that met requests of a kind.
type provider struct {
	node  grid.NodeID
	at    grid.Time
	fails uint8 // since
}

// of lists the providers of a kind of request within the age, the newest first.
func (e *experience) of(now grid.Time, age time.Duration, key uint64) []provider {
	i := slices.Index(e.keys, key)
	if i < 0 {
		return nil
	}
	all := e.lessons[i].providers
	for k := range all {
		if now.Sub(all[k].at) >= age {
			if k == 0 {
				e.drop(i)
				return nil
			}
			clear(all[k:])
			all = all[:k]
			e.lessons[i].providers = all
			break
		}
	}
	return all
}

// met records a provider as the newest of its kind. Beyond the bounds the oldest kind and the oldest provider are
// removed.
func (e *experience) met(now grid.Time, key uint64, node grid.NodeID, most int) {
	i := slices.Index(e.keys, key)
	if i < 0 {
		if len(e.keys) >= most {
			oldest := 0
			for k := range e.lessons {
				if e.lessons[k].at < e.lessons[oldest].at {
					oldest = k
				}
			}
			e.drop(oldest)
		}
		i = len(e.keys)
		e.keys, e.lessons = append(e.keys, key), append(e.lessons, lesson{})
	}
	l := &e.lessons[i]
	l.at = now
	k := slices.IndexFunc(l.providers, func(p provider) bool { return p.node == node })
	switch {
	case k >= 0:
	case len(l.providers) < maxProviders:
		l.providers = append(l.providers, provider{})
		k = len(l.providers) - 1
	default:
		k = maxProviders - 1
	}
	copy(l.providers[1:k+1], l.providers[:k])
	l.providers[0] = provider{node: node, at: now}
}

// failed counts a failure of a node, if it is a provider.
func (e *experience) failed(key uint64, node grid.NodeID) {
	i := slices.Index(e.keys, key)
	if i < 0 {
		return
	}
	l := &e.lessons[i]
	k := slices.IndexFunc(l.providers, func(p provider) bool { return p.node == node })
	if k < 0 {
		return
	}
	if l.providers[k].fails++; l.providers[k].fails < maxFails {
		return
	}
	if l.providers = slices.Delete(l.providers, k, k+1); len(l.providers) == 0 {
		e.drop(i)
	}
}

func (e *experience) drop(i int) {
	last := len(e.keys) - 1
	e.keys[i], e.lessons[i] = e.keys[last], e.lessons[last]
	e.lessons[last] = lesson{}
	e.keys, e.lessons = e.keys[:last], e.lessons[:last]
}
