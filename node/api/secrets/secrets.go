package secrets

import (
	"context"
	"errors"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	v1 "skep/node/api/v1"
	"skep/node/secret"
)

// Keeper keeps secrets.
type Keeper interface {
	Set(ctx context.Context, of secret.Secret, value []byte) error
	Remove(ctx context.Context, name string, anyway bool) error
	List() []secret.Known
}

// Handlers answer the requests.
type Handlers struct {
	Self   grid.NodeID
	Keeper Keeper // nil = the node keeps none

	// Node returns the ID of the node that a reference names: an ID, a beginning of one, a name, or self.
	Node func(ctx context.Context, ref string) (grid.NodeID, error)
}

// ByName is a request about one secret.
type ByName struct {
	Name string `path:"name" doc:"Name of a secret of this node."`
}

// RemoveIn is a request to remove one.
type RemoveIn struct {
	ByName
	Anyway bool `query:"anyway" doc:"This node forgets it although nodes that hold it cannot be told."`
}

// SetIn is a request to set one.
type SetIn struct {
	ByName
	Body v1.SecretValue
}

var errNone = huma.Error404NotFound("secrets: this node keeps none")

// Set sets a secret, or sets it anew.
func (h *Handlers) Set(ctx context.Context, in *SetIn) (*v1.Secret, error) {
	if h.Keeper == nil {
		return nil, errNone
	}
	b := &in.Body
	defer clear(b.Value)
	of := secret.Secret{ID: secret.ID{Owner: h.Self, Name: in.Name}, Anyone: b.Anyone}
	if b.Anyone && len(b.Workers) > 0 {
		return nil, huma.Error422UnprocessableEntity("any_worker with workers: want one of them")
	}
	on, err := h.nodes(ctx, b.On)
	workers, failed := h.nodes(ctx, b.Workers)
	if err := errors.Join(err, failed); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if of.Holders = on; len(on) == 0 {
		of.Holders = []grid.NodeID{h.Self}
	}
	if of.Workers = workers; len(workers) == 0 && !b.Anyone {
		of.Workers = of.Holders
	}
	for _, o := range b.Origins {
		id, err := h.Node(ctx, o.Node)
		if err != nil {
			return nil, huma.Error422UnprocessableEntity(err.Error())
		}
		of.Origins = append(of.Origins, secret.Origin{Node: id, User: o.User})
	}
	if len(of.Origins) == 0 {
		of.Origins = []secret.Origin{{Node: h.Self}}
	}
	if err := h.Keeper.Set(ctx, of, b.Value); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	out := secretOf(&secret.Known{Secret: of})
	for _, k := range h.Keeper.List() {
		if k.ID == of.ID {
			out = secretOf(&k)
		}
	}
	return &out, nil
}

// Remove removes a secret of this node wherever it is held.
func (h *Handlers) Remove(ctx context.Context, in *RemoveIn) (*v1.SecretList, error) {
	if h.Keeper == nil {
		return nil, errNone
	}
	if err := h.Keeper.Remove(ctx, in.Name, in.Anyway); err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	return h.List(ctx, nil)
}

// List lists the secrets that this node has set or holds, without their values.
func (h *Handlers) List(context.Context, *struct{}) (*v1.SecretList, error) {
	l := &v1.SecretList{Secrets: []v1.Secret{}}
	if h.Keeper == nil {
		return l, nil
	}
	for _, k := range h.Keeper.List() {
		l.Secrets = append(l.Secrets, secretOf(&k))
	}
	return l, nil
}

// Resolve replaces what names the nodes that hold a job's secrets by their IDs.
func (h *Handlers) Resolve(ctx context.Context, uses []v1.SecretUse) error {
	for i := range uses {
		if uses[i].From == "" {
			continue
		}
		id, err := h.Node(ctx, uses[i].From)
		if err != nil {
			return err
		}
		uses[i].From = id.String()
	}
	return nil
}

func (h *Handlers) nodes(ctx context.Context, refs []string) (ids []grid.NodeID, err error) {
	for _, ref := range refs {
		id, failed := h.Node(ctx, ref)
		err = errors.Join(err, failed)
		if !slices.Contains(ids, id) { // by its name, and again by its ID
			ids = append(ids, id)
		}
	}
	return ids, err
}

func secretOf(k *secret.Known) v1.Secret {
	s := v1.Secret{Name: k.Name, Owner: k.Owner.String(), Held: k.Held, On: texts(k.Holders), Former: texts(k.Former),
		Workers: texts(k.Workers), Anyone: k.Anyone, Origins: []v1.SecretOrigin{}}
	for _, o := range k.Origins {
		s.Origins = append(s.Origins, v1.SecretOrigin{Node: o.Node.String(), User: o.User})
	}
	return s
}

func texts(ids []grid.NodeID) (out []string) {
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}
