package reachability

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/transport"
)

// Bounds of the contacts.
const (
	maxContacts    = 4096 // nodes with known addresses, saved or not
	maxSaved       = 512  // peers on disk
	minConnections = 16   // with fewer connections all known nodes are dialled, else only neighbours
	minRetry       = time.Second
	maxRetry       = 5 * time.Minute
)

// contact is a node that may be dialled.
type contact struct {
	addrs     []string      // newest first, at most grid.MaxAddrs
	reporters []grid.NodeID // nodes that reported the newest
	lastSeen  time.Time
	firstUp   time.Time // first connection; zero: never
	saved     bool      // on disk: it was connected once
	fromToken bool      // named by a token, or found on the local network
	neighbour bool      // a neighbour
	connected bool      // connected
	dialing   bool
	failures  int       // in a row
	next      time.Time // time of the next try
}

// savedContact is a contact on disk.
type savedContact struct {
	Addrs []string
	Seen  time.Time
	Met   time.Time // zero where an earlier version saved it
}

// retryAfter returns the back-off after a number of failed tries: exponential, with jitter so that the nodes of a
// network that was cut do not all dial at once.
func retryAfter(failed int, random float64) time.Duration {
	wait := maxRetry
	if failed < 16 {
		wait = min(minRetry<<max(failed-1, 0), maxRetry)
	}
	return wait/2 + time.Duration(random*float64(wait/2))
}

// mergeAddrs adds addresses, the newest first, and reports whether one was unknown before.
func (c *contact) mergeAddrs(addrs []string) (more bool) {
	merged := make([]string, 0, grid.MaxAddrs)
	for _, list := range [...][]string{addrs, c.addrs} {
		for _, a := range list {
			if len(merged) < grid.MaxAddrs && len(a) <= grid.MaxAddr && !slices.Contains(merged, a) {
				merged = append(merged, a)
			}
		}
	}
	more = slices.ContainsFunc(addrs, func(a string) bool { return !slices.Contains(c.addrs, a) })
	c.addrs = merged
	return more
}

func (c *contact) info(n grid.NodeID) peer.AddrInfo {
	info := peer.AddrInfo{ID: identity.Peer(n)}
	for _, text := range c.addrs {
		if a, err := ma.NewMultiaddr(text); err == nil {
			info.Addrs = append(info.Addrs, a)
		}
	}
	return info
}

// tokenTries is the number of failures in a row after which a contact known only from a token or the local network,
// where anybody may name nodes, may be replaced.
const tokenTries = 8

// expendable reports whether c may be replaced by a newer contact.
func (c *contact) expendable() bool {
	return !c.saved && !c.neighbour && !c.connected && !c.dialing && (!c.fromToken || c.failures >= tokenTries)
}

func contactKey(n grid.NodeID) ds.Key { return ds.NewKey("/peer/" + n.String()) }

// eachSaved calls f for each contact on disk.
func eachSaved(ctx context.Context, data ds.Datastore, f func(grid.NodeID, savedContact)) error {
	found, err := data.Query(ctx, query.Query{Prefix: "/peer"})
	if err != nil {
		return fmt.Errorf("known peers: %w", err)
	}
	defer found.Close()
	for r := range found.Next() {
		if r.Error != nil {
			return fmt.Errorf("known peers: %w", r.Error)
		}
		var s savedContact
		n, err := grid.ParseNodeID(ds.RawKey(r.Key).BaseNamespace())
		if err == nil && json.Unmarshal(r.Value, &s) == nil {
			f(n, s)
		}
	}
	return nil
}

// load reads the saved contacts and those of the tokens.
func (l *dialer) load(addrs []string) error {
	err := eachSaved(l.n.ctx, l.n.cfg.Data, func(n grid.NodeID, s savedContact) {
		if n == l.n.cfg.Self {
			return
		}
		if s.Met.IsZero() {
			s.Met = s.Seen.Add(-transport.FamiliarAfter)
		}
		l.mu.Lock()
		l.contacts[n] = &contact{addrs: s.Addrs, reporters: []grid.NodeID{l.n.cfg.Self}, lastSeen: s.Seen,
			firstUp: s.Met, saved: true}
		l.mu.Unlock()
	})
	if err != nil {
		return err
	}
	for _, text := range addrs {
		if err := l.addToken(text); err != nil {
			return err
		}
	}
	return nil
}

// CountSaved counts the nodes on disk, up to a few, which is all that a start needs.
func CountSaved(ctx context.Context, data ds.Datastore) (count int) {
	found, err := data.Query(ctx, query.Query{Prefix: "/peer", KeysOnly: true, Limit: 2 * grid.MaxMembers})
	if err != nil {
		return 0
	}
	defer found.Close()
	for r := range found.Next() {
		if r.Error == nil {
			count++
		}
	}
	return count
}

func (l *dialer) addToken(text string) error {
	addr, err := ma.NewMultiaddr(text)
	var info *peer.AddrInfo
	if err == nil {
		info, err = peer.AddrInfoFromP2pAddr(addr)
	}
	if err != nil {
		return fmt.Errorf("address %q in the token: want a multiaddress that ends in /p2p/ID: %w", text, err)
	}
	if n, ok := identity.Node(info.ID); ok && n != l.n.cfg.Self {
		for _, a := range info.Addrs {
			l.n.transport.AddProved(a)
		}
		l.discovered(n, texts(info.Addrs))
	}
	return nil
}

func texts(addrs []ma.Multiaddr) []string {
	var t []string
	for _, a := range addrs {
		t = append(t, a.String())
	}
	return t
}

// save writes a contact to disk, in place of the one not seen for longest if there are too many.
func (l *dialer) save(n grid.NodeID) {
	l.mu.Lock()
	c := l.contacts[n]
	if c == nil {
		l.mu.Unlock()
		return
	}
	if c.mergeAddrs(l.announcedAddrs(n)) {
		c.reporters = []grid.NodeID{n}
	}
	c.saved = true
	s := savedContact{c.addrs, c.lastSeen, c.firstUp}
	evicted, full := l.evictSaved(time.Now())
	l.mu.Unlock()
	if evicted == n {
		return
	}
	data := l.n.cfg.Data
	b, err := json.Marshal(s)
	if err == nil {
		err = data.Put(l.n.ctx, contactKey(n), b)
	}
	if err == nil && full {
		err = data.Delete(l.n.ctx, contactKey(evicted))
	}
	if err != nil && l.n.ctx.Err() == nil {
		l.n.cfg.Log.Warn("known peer not saved", "node", n.Short(), "error", err)
	}
}

// evictSaved chooses the contact to remove from disk if there are too many: among strangers, or among all if there
// are none, the one not seen for longest.
func (l *dialer) evictSaved(at time.Time) (evicted grid.NodeID, full bool) {
	count := 0
	var worst *contact
	for n, c := range l.contacts {
		if !c.saved {
			continue
		}
		count++
		if worst == nil || c.familiar(at) != worst.familiar(at) && !c.familiar(at) || c.familiar(at) == worst.familiar(at) &&
			c.lastSeen.Before(worst.lastSeen) {
			evicted, worst = n, c
		}
	}
	if count <= maxSaved {
		return grid.NodeID{}, false
	}
	worst.saved = false
	return evicted, true
}

// familiar reports whether a node is no stranger.
func (c *contact) familiar(at time.Time) bool {
	return !c.firstUp.IsZero() && at.Sub(c.firstUp) >= transport.FamiliarAfter
}

// familiar reports whether a node is no stranger.
func (l *dialer) familiar(n grid.NodeID, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[n]
	return c != nil && c.familiar(at)
}

func jitter() float64 { return rand.Float64() }
