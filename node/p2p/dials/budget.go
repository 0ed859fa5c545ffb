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

// Tries a minute, and as many at once, at addresses where no member has answered.
const (
	All           = 120 // in all
	PerHost       = 4   // at one host: an address of IPv4, a /64 of IPv6
	PerMemberHost = 30  // at one host where members live
	PerReporter   = 12  // at addresses of which one member told
)

const maxTracked = 4096 // hosts, addresses and tellers that are remembered, each

// Errors of Allow.
var (
	ErrLocal  = errors.New("an address of another machine's own")
	ErrBudget = errors.New("too many tries where nobody has answered")
)

// Budget counts the tries of one node. Its methods may be called at the same time.
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

// New returns the budget of a node. A node that uses nothing but the loopback may dial there what others tell of, and pays nothing for the host.
func New(self grid.NodeID, loopback bool) *Budget {
	return &Budget{self: self, loopback: loopback, all: perMinute(All), proved: newCache[string, struct{}](),
		memberHosts: newCache[string, *rate.Limiter](), hosts: newCache[string, *rate.Limiter](), reporters: newCache[grid.NodeID, *rate.Limiter]()}
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

// AddProved notes that an address is good: an operator named it, or a member has answered there.
func (b *Budget) AddProved(a ma.Multiaddr) {
	if at, err := tcp(a); err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.proved.Add(at.String(), struct{}{})
	}
}

// AddMemberHost notes that a member lives at the host of an address: it has connected from there.
func (b *Budget) AddMemberHost(a ma.Multiaddr) {
	if at, err := tcp(a); err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.memberHosts.Contains(host(at.IP)) {
			b.memberHosts.Add(host(at.IP), perMinute(PerMemberHost))
		}
	}
}

// Allow reports whether an address may be dialled now, and counts that as a try. tellers are those that told of it, any of whom may pay for
// the try; the node itself, where it remembers the address, pays nothing. Errors wrap ErrLocal or ErrBudget.
func (b *Budget) Allow(a ma.Multiaddr, tellers []grid.NodeID, at time.Time) error {
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
	if teller := b.reporterLimit(tellers, at); teller != nil {
		pay = append(pay, teller)
	}
	if !allHaveTokens(pay, at) { // before the host is looked up, so that what is refused pushes no host out of those that are remembered
		return fmt.Errorf("%s: %w", to, ErrBudget)
	}
	if !to.IP.IsLoopback() { // there the whole network lives
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

// reporterLimit returns who of the tellers has the most tries left; nil: nobody has to pay.
func (b *Budget) reporterLimit(tellers []grid.NodeID, at time.Time) (payer *rate.Limiter) {
	if len(tellers) == 0 {
		tellers = []grid.NodeID{{}} // of what nobody is known to have told there is one purse
	}
	for _, n := range tellers {
		if n == b.self {
			return nil
		}
		if l := limiter(b.reporters, n, PerReporter); payer == nil || l.TokensAt(at) > payer.TokensAt(at) {
			payer = l
		}
	}
	return payer
}

func limiter[K comparable](c *lru.Cache[K, *rate.Limiter], key K, n int) *rate.Limiter {
	l, ok := c.Get(key)
	if !ok {
		l = perMinute(n)
		c.Add(key, l)
	}
	return l
}

// tcp reads where a multiaddress leads; relays are not looked through.
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
