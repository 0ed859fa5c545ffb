package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"skep/grid"
	"skep/testnet/attack/member"
)

// network starts nodes, with a job that runs, for which the attacker aims.
func network(ctx context.Context, o *Options, base string) (nodes []*target, t member.Target, err error) {
	token := filepath.Join(base, "token")
	for i := range nodesAttacked {
		home := filepath.Join(base, fmt.Sprint("home-", i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return nodes, t, err
		}
		args := []string{"--cpus", "8"}
		if i > 0 {
			args = append(args, "--join-file", token)
		}
		n, err := startTarget(o.Skep, filepath.Join(home, "data"), home, args...)
		if err != nil {
			return nodes, t, err
		}
		nodes = append(nodes, n)
		if i == 0 {
			if t.Token, _, err = n.client(ctx, home, "node", "token"); err != nil {
				return nodes, t, err
			}
			t.Token = strings.TrimSpace(t.Token)
			if err := os.WriteFile(token, []byte(t.Token), 0o600); err != nil {
				return nodes, t, err
			}
		}
	}
	ids, err := known(ctx, nodes[0])
	if err != nil {
		return nodes, t, err
	}
	t.Node, t.Nodes = ids[0], ids[1:]
	for range 3 { // so that what comes later is not what a first job takes
		if _, _, err := nodes[0].client(ctx, nodes[0].home, "run", "--count", "10", "--", "true"); err != nil {
			return nodes, t, err
		}
	}
	out, _, err := nodes[0].client(ctx, nodes[0].home, "run", "--detach", "--", "sleep", "3600")
	if err != nil {
		return nodes, t, err
	}
	t.Job, err = grid.ParseJobID(strings.TrimSpace(out))
	return nodes, t, err
}

// known waits until a node knows all, and returns their IDs, its own first.
func known(ctx context.Context, n *target) (ids []grid.NodeID, err error) {
	for end := time.Now().Add(readyTime); ; time.Sleep(100 * time.Millisecond) {
		out, _, err := n.client(ctx, n.home, "node", "list", "--output", "json")
		var list struct{ Nodes []struct{ ID string } }
		if err == nil {
			err = json.Unmarshal([]byte(out), &list)
		}
		if err == nil && len(list.Nodes) == nodesAttacked {
			for _, said := range list.Nodes {
				id, err := grid.ParseNodeID(said.ID)
				if err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
			return ids, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return nil, errors.Join(err, errors.New("the nodes do not come to know each other"))
		}
	}
}
