package transport

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	"skep/grid"
	"skep/node/p2p/wire"
)

// maxAds bounds the remembered checked ads: a few for each node of a view, since old ones still arrive by other
// ways.
const maxAds = 2048

// adCache signs the own ad and checks those of others, each once: the same ad arrives from many neighbours.
type adCache struct {
	t     *Transport
	known *lru.Cache[[32]byte, *grid.Ad]

	own    *grid.Ad // used by the loop's goroutine only
	sealed []byte
}

func newAdCache(t *Transport) *adCache {
	known, err := lru.New[[32]byte, *grid.Ad](maxAds)
	if err != nil {
		panic("p2p: ad cache: " + err.Error())
	}
	return &adCache{t: t, known: known}
}

// seal returns an ad's signed bytes: as they were received, or signed now if it is the own ad.
func (c *adCache) seal(a *grid.Ad) []byte {
	if len(a.Sealed) > 0 || a.Node != c.t.cfg.Self {
		return a.Sealed
	}
	if a == c.own {
		return c.sealed
	}
	sealed, err := wire.Seal(c.t.cfg.Key, a)
	if err != nil {
		c.t.cfg.Log.Error("ad not signed", "error", err)
		return nil
	}
	c.own, c.sealed = a, sealed
	return sealed
}

// open checks an ad's signed bytes and records the addresses that its node announces, and that reporter passed them
// on.
func (c *adCache) open(sealed []byte, reporter grid.NodeID) (*grid.Ad, error) {
	hash := sha256.Sum256(sealed)
	if a, ok := c.known.Get(hash); ok {
		c.t.contacts.Reported(a.Node, reporter)
		return a, nil
	}
	a, err := wire.Open(sealed)
	if err != nil {
		return nil, err
	}
	c.known.Add(hash, a)
	c.t.contacts.Learn(a.Node, a.Addrs, reporter)
	return a, nil
}

// opener returns open for the ads that one peer passes on.
func (c *adCache) opener(reporter grid.NodeID) func([]byte) (*grid.Ad, error) {
	return func(sealed []byte) (*grid.Ad, error) { return c.open(sealed, reporter) }
}
