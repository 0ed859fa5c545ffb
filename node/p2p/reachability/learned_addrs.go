package reachability

import (
	"cmp"
	"slices"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
)

// maxReporters bounds the remembered nodes that reported a contact's addresses.
const maxReporters = 4

// contact returns the contact with a node, a new one if there is none; nil if there is no room.
func (l *dialer) contact(n grid.NodeID) *contact {
	if c := l.contacts[n]; c != nil {
		return c
	}
	if len(l.contacts) >= maxContacts {
		var oldest grid.NodeID
		var found *contact
		for m, c := range l.contacts {
			if c.expendable() && (found == nil || c.lastSeen.Before(found.lastSeen)) {
				oldest, found = m, c
			}
		}
		if found == nil {
			return nil
		}
		delete(l.contacts, oldest)
	}
	c := &contact{lastSeen: time.Now()}
	l.contacts[n] = c
	return c
}

// learn records the addresses that a node announces, and which node passed them on.
func (l *dialer) learn(n grid.NodeID, addrs []string, reporter grid.NodeID) {
	if addrs = numericAddrs(addrs); n == l.n.cfg.Self || len(addrs) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contact(n)
	if c == nil {
		return
	}
	if c.mergeAddrs(addrs) {
		c.reporters = c.reporters[:0]
		if c.failures > 0 { // a relay, usually
			c.next = time.Now().Add(min(time.Until(c.next), minRetry))
		}
	}
	c.addReporter(reporter)
	if c.neighbour && !c.connected {
		l.wake()
	}
}

// numericAddrs keeps the addresses with an IP address: host names in ads are not looked up.
func numericAddrs(addrs []string) []string {
	return slices.DeleteFunc(slices.Clone(addrs), func(s string) bool {
		a, err := ma.NewMultiaddr(s)
		return err != nil || len(a) == 0 || a[0].Code() != ma.P_IP4 && a[0].Code() != ma.P_IP6
	})
}

// addReporter records a node that reported the contact's addresses.
func (c *contact) addReporter(reporter grid.NodeID) {
	if len(c.reporters) < maxReporters && !slices.Contains(c.reporters, reporter) {
		c.reporters = append(c.reporters, reporter)
	}
}

// reported records another node that reports the same addresses of a node that is not connected.
func (l *dialer) reported(n, reporter grid.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.contacts[n]; c != nil && !c.connected {
		c.addReporter(reporter)
	}
}

// reporters returns the nodes that reported a node's addresses; for a connected node, itself.
func (l *dialer) reporters(n grid.NodeID) []grid.NodeID {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[n]
	switch {
	case c == nil:
		return nil
	case c.connected:
		return []grid.NodeID{n}
	}
	return slices.Clone(c.reporters)
}

// discovered adds a node that a token or the local network names, to be dialled now.
func (l *dialer) discovered(n grid.NodeID, addrs []string) {
	if n == l.n.cfg.Self {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.contact(n); c != nil {
		c.mergeAddrs(addrs)
		c.fromToken, c.next = true, time.Time{}
		l.wake()
	}
}

// Recent returns the nodes with a known address that were seen last, the latest first.
func (n *Network) Recent(most int) []grid.NodeID {
	l := n.dialer
	l.mu.Lock()
	defer l.mu.Unlock()
	var nodes []grid.NodeID
	for id, c := range l.contacts {
		if len(c.addrs) > 0 {
			nodes = append(nodes, id)
		}
	}
	slices.SortFunc(nodes, func(a, b grid.NodeID) int {
		return cmp.Or(l.contacts[b].lastSeen.Compare(l.contacts[a].lastSeen), a.Compare(b))
	})
	return nodes[:min(most, len(nodes))]
}
