package p2p

import (
	"context"
	"errors"

	"skep/grid"
	"skep/node/p2p/generations"
	"skep/node/p2p/secrets"
)

// keepers keep for other nodes what these rely on.
type keepers struct {
	generations *generations.Keeper
	secrets     *secrets.Secrets
}

// Secrets are those that this node holds or has set.
func (d *Driver) Secrets() *secrets.Secrets { return d.secrets }

// secretLabels says whether tasks here may have secrets.
func (d *Driver) secretLabels() []grid.Label {
	if !d.runner.GivesSecrets() {
		return nil
	}
	return []grid.Label{{Key: grid.SecretLabel, Value: grid.FeatureValue}}
}

// withSecrets fills in where the secrets of a job are that is submitted here. How its tasks end is signed, whatever
// else this node signs: a secret is given for a signed assignment only.
func (d *Driver) withSecrets(ctx context.Context, s *grid.JobSpec) (err error) {
	if d.cfg.Sign == SignNever {
		return errors.New("secrets: this node signs no jobs (sign: never), and a secret is given to a signed one only: " +
			"want sign: auto or always")
	}
	if s.Secrets, err = d.secrets.Resolve(ctx, s.Secrets, s.Submitter); err != nil {
		return err
	}
	*s = withSignedEnds(*s)
	return s.Check()
}
