package codec

import (
	"encoding/binary"
	"fmt"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Codec carries the messages and records of one world. The zero value is ready; it must not be copied.
type Codec struct {
	send, receive wire.Codec
	frame         []byte
	msg           grid.Message
	ads           []*grid.Ad
	numbers       map[*grid.Ad]uint64
	specs         map[grid.JobID]*grid.JobSpec
}

// Message returns a message as its receiver reads it, valid until the next call.
func (c *Codec) Message(m *grid.Message) (*grid.Message, error) {
	c.know(m.Offer.ID.Task.Job, m.Offer.Spec)
	c.know(m.Register.Job, m.Register.Spec)
	offered, kept := m.Offer.Spec, m.Register.Spec
	defer func() { m.Offer.Spec, m.Register.Spec = offered, kept }()
	m.Offer.Spec, m.Register.Spec = unsealed(offered), unsealed(kept)
	var err error
	if c.frame, err = c.send.Append(c.frame[:0], m, c.seal); err != nil {
		return nil, fmt.Errorf("sends what no peer reads: %w", err)
	}
	c.receive.Specs = c.spec
	if err := c.receive.Decode(c.frame, &c.msg, c.open); err != nil {
		return nil, fmt.Errorf("sends what no peer reads: %w", err)
	}
	return &c.msg, nil
}

// Record returns a record as it is read at the next start.
func (c *Codec) Record(r *grid.Record) (*grid.Record, error) {
	save := *r
	save.Register.Spec, save.Work.Spec = unsealed(r.Register.Spec), unsealed(r.Work.Spec)
	key, value, err := wire.AppendRecord(c.frame[:0], &save)
	if err != nil {
		return nil, fmt.Errorf("saves what it could not read: %w", err)
	}
	if r.Delete {
		return r, nil
	}
	read, err := wire.DecodeRecord(key, value)
	if err != nil {
		return nil, fmt.Errorf("saves what it could not read: %w", err)
	}
	switch r.Kind {
	case grid.RecRegister:
		read.Register.Spec = r.Register.Spec
	case grid.RecWork:
		read.Work.Spec = r.Work.Spec
	}
	return read, nil
}

// unsealed returns a spec as it would be without the signature of its origin, which nodes here cannot give: the ends of
// its job are not signed.
func unsealed(s *grid.JobSpec) *grid.JobSpec {
	if s == nil || s.Sealed == "" {
		return s
	}
	bare := *s
	bare.Sealed, bare.Signed = "", false
	return &bare
}

func (c *Codec) know(id grid.JobID, s *grid.JobSpec) {
	if s == nil {
		return
	}
	if c.specs == nil {
		c.specs = make(map[grid.JobID]*grid.JobSpec)
	}
	c.specs[id] = s
}

func (c *Codec) spec(id grid.JobID, encoded []byte) (*grid.JobSpec, error) {
	if _, err := wire.OpenSpec(id, encoded); err != nil {
		return nil, err
	}
	return c.specs[id], nil
}

func (c *Codec) seal(ad *grid.Ad) []byte {
	if c.numbers == nil {
		c.numbers = make(map[*grid.Ad]uint64)
	}
	n, known := c.numbers[ad]
	if !known {
		n = uint64(len(c.ads))
		c.ads, c.numbers[ad] = append(c.ads, ad), n
	}
	return binary.BigEndian.AppendUint64(nil, n)
}

func (c *Codec) open(sealed []byte) (*grid.Ad, error) {
	return c.ads[binary.BigEndian.Uint64(sealed)], nil
}
