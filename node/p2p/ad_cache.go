package p2p

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	"skep/grid"
	"skep/node/p2p/wire"
)

// maxAds is how many checked ads are remembered: a few for each node of a view, since old ones still
// come by other ways.
const maxAds = 2048

// adCache signs the own ad and checks those of others, each once: the same ad comes from many neighbours.
type adCache struct {
	d     *Driver
	known *lru.Cache[[32]byte, *grid.Ad]

	own    *grid.Ad // of the loop's goroutine
	sealed []byte
}

func newAdCache(d *Driver) *adCache {
	known, err := lru.New[[32]byte, *grid.Ad](maxAds)
	if err != nil {
		panic("p2p: ad cache: " + err.Error())
	}
	return &adCache{d: d, known: known}
}

// seal returns an ad's signed bytes: as they came, or signed now if it is the own one.
func (c *adCache) seal(a *grid.Ad) []byte {
	if len(a.Sealed) > 0 || a.Node != c.d.self {
		return a.Sealed
	}
	if a == c.own {
		return c.sealed
	}
	sealed, err := wire.Seal(c.d.key, a)
	if err != nil {
		c.d.log.Error("ad not signed", "error", err)
		return nil
	}
	c.own, c.sealed = a, sealed
	return sealed
}

// open checks an ad's signed bytes and remembers where its node says that it may be dialled, and that teller passed it on.
func (c *adCache) open(sealed []byte, teller grid.NodeID) (*grid.Ad, error) {
	hash := sha256.Sum256(sealed)
	if a, ok := c.known.Get(hash); ok {
		c.d.dialer.reported(a.Node, teller)
		return a, nil
	}
	a, err := wire.Open(sealed)
	if err != nil {
		return nil, err
	}
	c.known.Add(hash, a)
	c.d.dialer.learn(a.Node, a.Addrs, teller)
	return a, nil
}

// opener is open for what one peer passes on.
func (c *adCache) opener(teller grid.NodeID) func([]byte) (*grid.Ad, error) {
	return func(sealed []byte) (*grid.Ad, error) { return c.open(sealed, teller) }
}
