package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
	"skep/node/secret"
)

// Numbers of what is said of secrets, in a spec, and in an offer and a record of work.
const (
	secretsField  = 115
	evidenceField = 250
)

var (
	secretUseShape = &shape{"secret", []field{
		1: data("name", 1, grid.MaxSecretName), 2: data("env", 1, grid.MaxLabel), 3: data("owner", 1, nodeSize),
		4: data("holders", 1, nodeSize*grid.MaxSecretNodes), 5: data("workers", 1, nodeSize*grid.MaxSecretNodes),
		6: number("anyone"),
	}}
	secretUsesField = field{name: "secrets", typ: protowire.BytesType, count: grid.MaxSecrets, sub: secretUseShape,
		size: secretUseShape.limit(), total: int(grid.MaxSecretsSize)}
	secretOriginShape  = &shape{"origin", []field{1: data("node", 1, nodeSize), 2: data("user", 1, grid.MaxUser)}}
	secretRequestShape = &shape{"secret request", []field{
		1: number("op"), 2: data("owner", 1, nodeSize), 3: data("name", 1, grid.MaxSecretName),
		4: data("attempt", 1, AttemptSize), 5: message("spec", 1, specShape), 6: data("assigned", 1, grid.MaxProof),
		7: data("evidence", 1, grid.MaxEvidence), 8: data("value", 1, int(grid.MaxSecret)),
		9: data("holders", 1, nodeSize*grid.MaxSecretNodes), 10: data("workers", 1, nodeSize*grid.MaxSecretNodes),
		11: number("anyone"), 12: message("origins", grid.MaxSecretNodes, secretOriginShape),
		13: data("former", 1, nodeSize*grid.MaxSecretNodes),
	}}
)

// MaxSecretRequest bounds an encoded request about a secret.
var MaxSecretRequest = secretRequestShape.limit()

func putSecrets(all []grid.SecretUse) (out []*pb.SecretUse) {
	for i := range all {
		u := &all[i]
		out = append(out, &pb.SecretUse{Name: u.Name, Env: u.Env, Owner: putNode(u.Owner), Holders: putNodes(u.Holders),
			Workers: putNodes(u.Workers), Anyone: u.Anyone})
	}
	return out
}

func (p part) secretUse(u *grid.SecretUse) error {
	return p.each(func(num protowire.Number, x uint64) error {
		if num == 6 {
			u.Anyone = x != 0
		}
		return nil
	}, func(num protowire.Number, of part) (err error) {
		switch num {
		case 1:
			u.Name, err = of.cloned("secret")
		case 2:
			u.Env, err = of.cloned("env")
		case 3:
			err = getNode("owner", of.b, &u.Owner)
		case 4:
			u.Holders, err = getNodes("holders", grid.MaxSecretNodes, nil, of.b)
		case 5:
			u.Workers, err = getNodes("workers", grid.MaxSecretNodes, nil, of.b)
		}
		return err
	})
}

// EncodeSecretRequest encodes a request about a secret, or the answer to secret.Look. Errors wrap ErrBound.
func EncodeSecretRequest(r *secret.Request) ([]byte, error) {
	p := pb.SecretRequest{Op: uint32(r.Op), Owner: putNode(r.Owner), Name: r.Name, Value: r.Value,
		Holders: putNodes(r.Holders), Workers: putNodes(r.Workers), Anyone: r.Anyone,
		Former: putNodes(r.Former)}
	if r.Op == secret.Get {
		spec, err := specBytes(r.Spec)
		if err != nil {
			return nil, err
		}
		p.Attempt, p.Spec = AppendAttempt(nil, r.Attempt), spec
		p.Assigned, p.Evidence = []byte(r.Given.Assigned), []byte(r.Given.Evidence)
	}
	for i := range r.Origins {
		o := &r.Origins[i]
		p.Origins = append(p.Origins, &pb.SecretOrigin{Node: putNode(o.Node), User: o.User})
	}
	b, err := marshal.Marshal(&p)
	if err != nil {
		return nil, fmt.Errorf("secret request: %w: %w", ErrBound, err)
	}
	return b, secretRequestShape.check(b)
}

// DecodeSecretRequest decodes a request about a secret that is fit to be looked at, with a specification whose seal is
// right. Errors wrap ErrMalformed, ErrBound or ErrSignature.
func DecodeSecretRequest(b []byte) (*secret.Request, error) {
	if err := secretRequestShape.check(b); err != nil {
		return nil, err
	}
	var p pb.SecretRequest
	if err := parse(b, &p); err != nil {
		return nil, fmt.Errorf("secret request: %w", err)
	}
	if p.Op > 0xff {
		return nil, fmt.Errorf("secret request: %w: operation %d", ErrBound, p.Op)
	}
	r := &secret.Request{Op: secret.Op(p.Op), Value: p.Value,
		Secret: secret.Secret{ID: secret.ID{Name: p.Name}, Anyone: p.Anyone},
		Given:  grid.Given{Assigned: string(p.Assigned), Evidence: string(p.Evidence)}}
	err := getNode("owner", p.Owner, &r.Owner)
	if err == nil {
		r.Holders, err = getNodes("holders", grid.MaxSecretNodes, nil, p.Holders)
	}
	if err == nil {
		r.Workers, err = getNodes("workers", grid.MaxSecretNodes, nil, p.Workers)
	}
	if err == nil {
		r.Former, err = getNodes("former", grid.MaxSecretNodes, nil, p.Former)
	}
	for i := 0; err == nil && i < len(p.Origins); i++ {
		o := secret.Origin{User: cleanText(p.Origins[i].GetUser())}
		err = getNode("origin", p.Origins[i].GetNode(), &o.Node)
		r.Origins = append(r.Origins, o)
	}
	if err == nil && r.Op == secret.Get {
		if len(p.Attempt) != AttemptSize {
			return nil, fmt.Errorf("secret request: %w: no attempt", ErrMalformed)
		}
		r.Attempt = AttemptIn(p.Attempt)
		if r.Spec, err = OpenSpec(r.Attempt.Task.Job, p.Spec); err == nil {
			err = bound(r.Spec.Check())
		}
	}
	if err == nil {
		err = bound(r.Check())
	}
	if err != nil {
		return nil, fmt.Errorf("secret request: %w", err)
	}
	return r, nil
}
