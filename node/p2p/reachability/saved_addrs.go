package reachability

import (
	"cmp"
	"context"
	"slices"

	ds "github.com/ipfs/go-datastore"

	"skep/grid"
	"skep/node/p2p/identity"
)

// SavedAddrs returns where the nodes on disk that were seen last can be dialled: an address of each, which names it,
// the latest first, at most grid.MaxAddrs.
func SavedAddrs(ctx context.Context, data ds.Datastore) ([]string, error) {
	type saved struct {
		savedContact
		node grid.NodeID
	}
	var all []saved
	err := eachSaved(ctx, data, func(n grid.NodeID, s savedContact) {
		if len(s.Addrs) > 0 {
			all = append(all, saved{s, n})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b saved) int { return cmp.Or(b.Seen.Compare(a.Seen), a.node.Compare(b.node)) })
	var addrs []string
	for _, s := range all[:min(len(all), grid.MaxAddrs)] {
		addrs = append(addrs, s.Addrs[0]+"/p2p/"+identity.Peer(s.node).String())
	}
	return addrs, nil
}
