package hostile

import (
	"crypto/ed25519"
	"strings"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Spec signs the spec of a job of the member's own, submitted by the member and a user of any name.
func (m *Member) Spec(job grid.JobID, spec *grid.JobSpec, user string) (*grid.JobSpec, error) {
	spec.Submitter = grid.Submitter{Node: m.Self(), User: user}
	return wire.SealSpec(m.key, job, spec)
}

// Forged returns a spec that another node and a user there seem to have submitted. It is signed by the member.
func (m *Member) Forged(job grid.JobID, spec *grid.JobSpec, by grid.Submitter) (*grid.JobSpec, error) {
	own := m.Self()
	job.Origin = own // as who it can be sealed
	sealed, err := m.Spec(job, spec, by.User)
	if err != nil {
		return nil, err
	}
	forged := *sealed
	forged.Submitter = by
	forged.Sealed = strings.ReplaceAll(sealed.Sealed, string(own[:]), string(by.Node[:]))
	return &forged, nil
}

// Ghost returns the ad of a node that does not exist, signed by a key of no other use, with anybody's addresses.
func Ghost(name string, addrs ...string) (*grid.Ad, error) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	ad := &grid.Ad{Node: grid.NodeID(public), Seq: grid.Seq{Boot: 1, N: 1}, Name: name, Speed: 1, Availability: 1,
		Engines:  []string{grid.EngineProcess},
		Capacity: grid.Resources{CPU: 64 * grid.CPU, Memory: 64 * grid.GiB}, Free: grid.Resources{CPU: 64 * grid.CPU,
			Memory: 64 * grid.GiB},
		Addrs: addrs}
	ad.Sealed, err = wire.Seal(key, ad)
	return ad, err
}

// Digest returns a message that forwards ads.
func Digest(ads ...*grid.Ad) *grid.Message {
	m := &grid.Message{Kind: grid.KindDigest}
	for _, a := range ads {
		m.Digest = append(m.Digest, grid.AdEntry{Ad: a})
	}
	return m
}
