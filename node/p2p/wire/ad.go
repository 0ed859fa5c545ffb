package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
	"skep/requirement"
)

// adContext separates signatures of ads from other signatures by the same key.
var adContext = &ed25519.Options{Context: "skep ad 1"}

// Seal returns a's signed bytes: 64 bytes of signature, then the encoded ad. The key must be that of
// a.Node and the ad one that Open accepts (ErrSignature, ErrBound, ErrSize). It does not change a.
func Seal(key ed25519.PrivateKey, a *grid.Ad) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize || !bytes.Equal(key[ed25519.PublicKeySize:], a.Node[:]) {
		return nil, fmt.Errorf("ad of %s: %w: the key is another node's", a.Node.Short(), ErrSignature)
	}
	if err := a.Check(); err != nil {
		return nil, fmt.Errorf("ad of %s: %w: %w", a.Node.Short(), ErrBound, err)
	}
	sealed, err := marshal.MarshalAppend(make([]byte, ed25519.SignatureSize, 512), putAd(a))
	if err != nil {
		return nil, fmt.Errorf("ad of %s: %w: %w", a.Node.Short(), ErrBound, err)
	}
	if len(sealed) > int(grid.MaxAdSize) {
		return nil,
			fmt.Errorf("ad of %s: %w: %d signed bytes, want at most %d: fewer or shorter labels, addresses and classes "+
				"are needed",
				a.Node.Short(), ErrSize, len(sealed), grid.MaxAdSize)
	}
	sig, err := key.Sign(nil, sealed[ed25519.SignatureSize:], adContext)
	if err != nil {
		return nil, fmt.Errorf("ad of %s: %w: %w", a.Node.Short(), ErrSignature, err)
	}
	copy(sealed, sig)
	return sealed, nil
}

// Open decodes sealed bytes and checks the ad and its node's signature over the bytes as received. The ad is fresh
// memory and holds a copy of sealed. Errors wrap ErrSize, ErrMalformed, ErrBound or ErrSignature.
func Open(sealed []byte) (*grid.Ad, error) {
	if len(sealed) <= ed25519.SignatureSize || len(sealed) > int(grid.MaxAdSize) {
		return nil, fmt.Errorf("ad: %w: %d signed bytes, want %d to %d", ErrSize, len(sealed), ed25519.SignatureSize+1,
			grid.MaxAdSize)
	}
	sig, encoded := sealed[:ed25519.SignatureSize], sealed[ed25519.SignatureSize:]
	if err := adShape.check(encoded); err != nil {
		return nil, err
	}
	var p pb.Ad
	if err := parse(encoded, &p); err != nil {
		return nil, fmt.Errorf("ad: %w", err)
	}
	a, err := getAd(&p)
	if err != nil {
		return nil, fmt.Errorf("ad: %w", err)
	}
	if err := a.Check(); err != nil {
		return nil, fmt.Errorf("ad of %s: %w: %s", a.Node.Short(), ErrBound, clean(err.Error()))
	}
	// The signature is checked last: it costs fifty times as much as all other checks together.
	if ed25519.VerifyWithOptions(a.Node[:], encoded, sig, adContext) != nil {
		return nil, fmt.Errorf("ad of %s: %w", a.Node.Short(), ErrSignature)
	}
	a.Sealed = bytes.Clone(sealed)
	return a, nil
}

func putAd(a *grid.Ad) *pb.Ad {
	p := &pb.Ad{Node: a.Node[:], Boot: a.Seq.Boot, N: a.Seq.N, Name: a.Name, Cpu: int64(a.Capacity.CPU),
		Memory: int64(a.Capacity.Memory), FreeCpu: int64(a.Free.CPU), FreeMemory: int64(a.Free.Memory),
		Counts: string(a.Capacity.Counts), FreeCounts: string(a.Free.Counts), Waits: string(a.Waits),
		Backlog: putSpan(a.Backlog), Speed: a.Speed, Availability: a.Availability, Engines: a.Engines,
		Rates: fillRates(new(pb.Rates), a.Rates), Addrs: a.Addrs,
		Draining: a.Draining || a.Private, Leaving: a.Leaving, Full: a.Full || a.Away, Waiting: a.Waiting,
		LeastSpeed: a.Sharing.Least, Bids: a.Sharing.Bids, Price: putBid(a.Price), Outbid: putBid(a.Outbid),
		Accept: putExpression(a.Accept)}
	if h := a.Hour; h.Known {
		p.Hour = 1<<16 | uint32(h.Day)<<8 | uint32(h.OfDay)
	}
	if a.Private {
		if p.Private = 1; a.Draining {
			p.Private = 2
		}
	}
	if a.Away {
		if p.Away = 1; a.Full {
			p.Away = 2
		}
	}
	if c := &a.Coord; c.Known() {
		p.Coordinate = []float32{c.At[0], c.At[1], c.At[2], c.Height, c.Error}
	}
	for _, l := range a.Labels {
		p.Labels = append(p.Labels, &pb.Label{Key: l.Key, Value: l.Value})
	}
	return p
}

func getAd(p *pb.Ad) (*grid.Ad, error) {
	if len(p.Node) != nodeSize {
		return nil, fmt.Errorf("node: %w: %d bytes, want %d", ErrBound, len(p.Node), nodeSize)
	}
	a := &grid.Ad{Node: grid.NodeID(p.Node), Seq: grid.Seq{Boot: p.Boot, N: p.N}, Name: cleanText(p.Name),
		Capacity: resourcesOf(p.Cpu, p.Memory, p.Counts), Free: resourcesOf(p.FreeCpu, p.FreeMemory, p.FreeCounts),
		Speed: p.Speed, Availability: p.Availability, Engines: cleanTexts(p.Engines), Addrs: cleanTexts(p.Addrs),
		Draining: p.Draining && p.Private != 1, Leaving: p.Leaving, Full: p.Full && p.Away != 1, Private: p.Private > 0,
		Away: p.Away > 0,
		AdWork: grid.AdWork{Waits: grid.Counts(p.Waits), Waiting: p.Waiting,
			Sharing: grid.Sharing{Least: p.LeastSpeed, Bids: p.Bids}}}
	for _, l := range p.Labels {
		a.Labels = append(a.Labels, grid.Label{Key: cleanText(l.GetKey()), Value: cleanText(l.GetValue())})
	}
	var err error
	if a.Coord, err = getCoord(p.Coordinate); err != nil {
		return nil, err
	}
	if a.Backlog, err = getSpan("backlog", p.Backlog); err != nil {
		return nil, err
	}
	if a.Price, err = getBid(uint64(p.Price)); err != nil {
		return nil, err
	}
	if a.Outbid, err = getBid(uint64(p.Outbid)); err != nil {
		return nil, err
	}
	// one that only newer nodes know is not an error: whoever asks that node is told
	a.Accept, _ = getExpression("accept", p.Accept, requirement.Accept)
	if p.Hour>>16 == 1 {
		a.Hour = requirement.Hour{Known: true, OfDay: uint8(p.Hour), Day: uint8(p.Hour >> 8)}
	}
	a.Rates, err = getRates(nil, p.Rates)
	return a, err
}

func resourcesOf(cpu, memory int64, counts string) grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(cpu), Memory: grid.Bytes(memory), Counts: grid.Counts(counts)}
}

// getCoord reads a coordinate; older nodes send none.
func getCoord(x []float32) (c grid.Coord, err error) {
	switch len(x) {
	case 0:
		return c, nil
	case len(c.At) + 2:
		copy(c.At[:], x)
		c.Height, c.Error = x[len(c.At)], x[len(c.At)+1]
		return c, nil
	}
	return c, fmt.Errorf("coordinate: %w: %d numbers, want none or %d", ErrBound, len(x), len(c.At)+2)
}
