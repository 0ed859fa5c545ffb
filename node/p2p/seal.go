package p2p

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skep/grid"
	"skep/node/chain"
	"skep/node/p2p/wire"
)

// Signing says of which jobs submitted at a node the ends are signed: see package chain.
type Signing string

// The kinds of signing.
const (
	SignAuto   Signing = "auto"   // of all, but while a node is connected whose version knows no signed jobs
	SignAlways Signing = "always" // of all: only nodes that sign keep and run them
	SignNever  Signing = "never"
)

// Check reports a kind that there is not.
func (s Signing) Check() error {
	if s != SignAuto && s != SignAlways && s != SignNever {
		return fmt.Errorf("sign %q: want %s, %s or %s", string(s), SignAuto, SignAlways, SignNever)
	}
	return nil
}

// sealSpec returns the spec of a job that is submitted here, signed by this node. A spec that the node will refuse
// is not changed: the node says why.
func (d *Driver) sealSpec(ctx context.Context, id grid.JobID, s *grid.JobSpec) (*grid.JobSpec, error) {
	if id.Origin != d.self || s.Check() != nil {
		return s, nil
	}
	own := *s
	own.Submitter.Node = d.self
	own.RecordsOffers = own.MayRecordOffers() && d.transport.AllHave(grid.FeatureOffers)
	if len(own.Secrets) > 0 {
		if err := d.withSecrets(ctx, &own); err != nil {
			return nil, err
		}
	} else if d.cfg.Sign == SignAlways || d.cfg.Sign == SignAuto && d.transport.AllHave(grid.FeatureSigned) {
		// with as many labels as there may be it is left as it is, or, if it must be signed, refused
		if s := withSignedEnds(own); d.cfg.Sign == SignAlways || s.Check() == nil {
			own = s
		}
	}
	return wire.SealSpec(d.key, id, &own)
}

// withSignedEnds returns a spec of which the ends are signed.
func withSignedEnds(s grid.JobSpec) grid.JobSpec {
	s.Signed, s.Needs.Labels = true, slices.Clone(s.Needs.Labels)
	s.Needs.AddFeature(grid.SignedLabel)
	slices.SortFunc(s.Needs.Labels, func(a, b grid.LabelNeed) int { return cmp.Compare(a.Key, b.Key) })
	return s
}

// signer signs for this node.
func (d *Driver) signer() chain.Signer { return chain.Key(d.key) }
