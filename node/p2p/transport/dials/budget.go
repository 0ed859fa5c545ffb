package dials

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/time/rate"

	"skep/grid"
)

// Dials a minute, and as many at once, at addresses where no member has answered.
const (
	All           = 120 // in all
	PerHost       = 4   // at one host: an address of IPv4, a /64 of IPv6
	PerMemberHost = 30  // at one host where members have been seen
	PerReporter   = 12  // at addresses that one member reported
)

const maxTracked = 4096 // hosts, addresses and reporters that are tracked, each

// Errors of Allow.
var (
	ErrLocal  = errors.New("an address of another machine's own")
	ErrBudget = errors.New("too many tries where nobody has answered")
)

// Budget counts the dials of one node. Its methods are safe for concurrent use.
type Budget struct {
	self     grid.NodeID
	loopback bool

	mu          sync.Mutex
	all         *rate.Limiter
	proved      *lru.Cache[string, struct{}] // addresses that an operator named, or where a member has answered
	memberHosts *lru.Cache[string, *rate.Limiter]
	hosts       *lru.Cache[string, *rate.Limiter]
	reporters   *lru.Cache[grid.NodeID, *rate.Limiter]
}

// New returns the budget of a node. A node that uses only the loopback may dial reported loopback addresses, and
// the host is not charged.
func New(self grid.NodeID, loopback bool) *Budget {
	return &Budget{self: self, loopback: loopback, all: perMinute(All), proved: newCache[string, struct{}](),
		memberHosts: newCache[string, *rate.Limiter](), hosts: newCache[string, *rate.Limiter](),
		reporters: newCache[grid.NodeID, *rate.Limiter]()}
}

func perMinute(n int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
}

func newCache[K comparable, V any]() *lru.Cache[K, V] {
	c, err := lru.New[K, V](maxTracked)
	if err != nil {
		panic("dials: " + err.Error())
	}
	return c
}

// AddProved marks an address as proved: an operator named it, or a member has answered there.
func (b *Budget) AddProved(a ma.Multiaddr) {
	if at, err := tcp(a); err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.proved.Add(at.String(), struct{}{})
	}
}

// AddMemberHost marks the host of an address as one of a member, which has connected from there.
func (b *Budget) AddMemberHost(a ma.Multiaddr) {
	if at, err := tcp(a); err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.memberHosts.Contains(host(at.IP)) {
			b.memberHosts.Add(host(at.IP), perMinute(PerMemberHost))
		}
	}
}

// Allow reports whether an address may be dialled now, and counts the dial. reporters are the nodes that reported
// it; the one with the most dials left is charged. The node itself, where it remembers the address, is not charged.
// Errors wrap ErrLocal or ErrBudget.
func (b *Budget) Allow(a ma.Multiaddr, reporters []grid.NodeID, at time.Time) error {
	to, err := tcp(a)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proved.Contains(to.String()) {
		return nil
	}
	if to.IP.IsUnspecified() || to.IP.IsMulticast() || !b.loopback && (to.IP.IsLoopback() || to.IP.IsLinkLocalUnicast()) {
		return fmt.Errorf("%s: %w", to, ErrLocal)
	}
	pay := []*rate.Limiter{b.all}
	if reporter := b.reporterLimit(reporters, at); reporter != nil {
		pay = append(pay, reporter)
	}
	if !allHaveTokens(pay, at) { // before the host is looked up, so that refused dials evict no host from the cache
		return fmt.Errorf("%s: %w", to, ErrBudget)
	}
	if !to.IP.IsLoopback() { // there, one host has the whole network
		where, home := b.memberHosts.Get(host(to.IP))
		if !home {
			where = limiter(b.hosts, host(to.IP), PerHost)
		}
		if pay = append(pay, where); !allHaveTokens(pay, at) {
			return fmt.Errorf("%s: %w", to, ErrBudget)
		}
	}
	for _, l := range pay {
		l.AllowN(at, 1)
	}
	return nil
}

func allHaveTokens(pay []*rate.Limiter, at time.Time) bool {
	for _, l := range pay {
		if l.TokensAt(at) < 1 {
			return false
		}
	}
	return true
}

// reporterLimit returns the limiter of the reporter with the most dials left; nil: nobody is charged.
func (b *Budget) reporterLimit(reporters []grid.NodeID, at time.Time) (best *rate.Limiter) {
	if len(reporters) == 0 {
		reporters = []grid.NodeID{{}} // unknown reporters share one limiter
	}
	for _, n := range reporters {
		if n == b.self {
			return nil
		}
		if l := limiter(b.reporters, n, PerReporter); best == nil || l.TokensAt(at) > best.TokensAt(at) {
			best = l
		}
	}
	return best
}

func limiter[K comparable](c *lru.Cache[K, *rate.Limiter], key K, n int) *rate.Limiter {
	l, ok := c.Get(key)
	if !ok {
		l = perMinute(n)
		c.Add(key, l)
	}
	return l
}

// tcp returns the TCP address of a multiaddress; an error for one through a relay.
func tcp(a ma.Multiaddr) (*net.TCPAddr, error) {
	at, err := manet.ToNetAddr(a)
	if err != nil {
		return nil, err
	}
	to, ok := at.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%s: want an address of TCP", a)
	}
	return to, nil
}

func host(ip net.IP) string {
	if ip.To4() != nil {
		return ip.String()
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}
