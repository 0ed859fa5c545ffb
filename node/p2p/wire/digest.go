package wire

import (
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func (c *Codec) putDigest(ads []grid.AdEntry, seal func(*grid.Ad) []byte) (*pb.Digest, error) {
	for len(c.entries) < len(ads) {
		c.entries = append(c.entries, new(pb.Entry))
	}
	total := 0
	for i, e := range ads {
		sealed := e.Ad.Sealed
		if len(sealed) == 0 && seal != nil {
			sealed = seal(e.Ad)
		}
		if total += len(sealed); len(sealed) == 0 || len(sealed) > int(grid.MaxAdSize) || total > int(grid.MaxDigest) {
			return nil, fmt.Errorf("ad of %s: %w: %d signed bytes, %d in the digest, want at most %d and %d",
				e.Ad.Node.Short(), ErrBound, len(sealed), total, grid.MaxAdSize, grid.MaxDigest)
		}
		c.entries[i].Sealed, c.entries[i].Hops = sealed, uint32(e.Hops)
	}
	c.digest.Ads = c.entries[:len(ads)]
	return &c.digest, nil
}

func (c *Codec) readDigest(b []byte, m *grid.Message, open func([]byte) (*grid.Ad, error)) error {
	var p pb.Digest
	if err := parse(b, &p); err != nil {
		return err
	}
	total := 0
	for _, e := range p.Ads {
		if total += len(e.Sealed); total > int(grid.MaxDigest) {
			return fmt.Errorf("ads: %w: more than %d bytes", ErrBound, grid.MaxDigest)
		}
	}
	for _, e := range p.Ads {
		if err := readEntry(e, m, open); err != nil {
			return err
		}
	}
	return nil
}

func readEntry(e *pb.Entry, m *grid.Message, open func([]byte) (*grid.Ad, error)) error {
	if e.Hops > grid.MaxHops {
		return fmt.Errorf("ad: %w: %d hops, want at most %d", ErrBound, e.Hops, grid.MaxHops)
	}
	ad, err := open(e.Sealed)
	if err == nil && ad != nil {
		m.Digest = append(m.Digest, grid.AdEntry{Ad: ad, Hops: uint8(e.Hops)})
	}
	return err
}
