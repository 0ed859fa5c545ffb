package p2p

import (
	"slices"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
)

// maxTellers is how many are remembered of those that told where a node is.
const maxTellers = 4

// contact returns the contact with a node, a new one if there is none; nil if there is no room.
func (l *dialer) contact(n grid.NodeID) *contact {
	if c := l.m[n]; c != nil {
		return c
	}
	if len(l.m) >= maxContacts {
		var oldest grid.NodeID
		var found *contact
		for m, c := range l.m {
			if c.expendable() && (found == nil || c.seen.Before(found.seen)) {
				oldest, found = m, c
			}
		}
		if found == nil {
			return nil
		}
		delete(l.m, oldest)
	}
	c := &contact{seen: time.Now()}
	l.m[n] = c
	return c
}

// learn notes where a node says it may be dialled, and who passed that on.
func (l *dialer) learn(n grid.NodeID, addrs []string, teller grid.NodeID) {
	if addrs = written(addrs); n == l.d.self || len(addrs) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contact(n)
	if c == nil {
		return
	}
	if c.remember(addrs) {
		c.tellers = c.tellers[:0]
		if c.failed > 0 { // a relay, as a rule
			c.next = time.Now().Add(min(time.Until(c.next), firstRetry))
		}
	}
	c.told(teller)
	if c.keep && !c.on {
		l.wake()
	}
}

// written keeps those addresses that name a host by its number: nobody is asked for a name because somebody says so.
func written(addrs []string) []string {
	return slices.DeleteFunc(slices.Clone(addrs), func(s string) bool {
		a, err := ma.NewMultiaddr(s)
		return err != nil || len(a) == 0 || a[0].Code() != ma.P_IP4 && a[0].Code() != ma.P_IP6
	})
}

// told notes who told where the contact is.
func (c *contact) told(teller grid.NodeID) {
	if len(c.tellers) < maxTellers && !slices.Contains(c.tellers, teller) {
		c.tellers = append(c.tellers, teller)
	}
}

// retold notes that somebody else tells the same of a node that is not connected.
func (l *dialer) retold(n, teller grid.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.m[n]; c != nil && !c.on {
		c.told(teller)
	}
}

// tellers returns who told where a node is: of one that is connected, itself.
func (l *dialer) tellers(n grid.NodeID) []grid.NodeID {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.m[n]
	switch {
	case c == nil:
		return nil
	case c.on:
		return []grid.NodeID{n}
	}
	return slices.Clone(c.tellers)
}

// found notes a node that a token or the local network tells of, to be dialled now.
func (l *dialer) found(n grid.NodeID, addrs []string) {
	if n == l.d.self {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.contact(n); c != nil {
		c.remember(addrs)
		c.token, c.next = true, time.Time{}
		l.wake()
	}
}
