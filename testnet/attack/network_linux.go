package attack

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
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
		if i == 0 && os.Geteuid() == 0 {
			settings, err := exposed(base, &t.Accounts)
			if err != nil {
				return nodes, t, err
			}
			args = append(args, settings...)
		}
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

// exposed makes the folders of two accounts, which every machine has, and returns how a node exposes them.
func exposed(base string, a *member.Accounts) (settings []string, err error) {
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	a.Trusted = grid.Submitter{Node: grid.NodeID(public), User: "ada"}
	a.Open, a.Guarded = filepath.Join(base, "open"), filepath.Join(base, "guarded")
	for _, x := range [...]struct{ dir, account, by string }{{a.Open, "daemon", "*"},
		{a.Guarded, "nobody", "ada@" + a.Trusted.Node.String()}} {
		who, err := user.Lookup(x.account)
		if err != nil {
			return nil, err
		}
		uid, err := strconv.Atoi(who.Uid)
		if err == nil {
			err = os.Mkdir(x.dir, 0o755)
		}
		if err == nil {
			err = os.Chown(x.dir, uid, -1)
		}
		if err != nil {
			return nil, err
		}
		settings = append(settings, "--expose", fmt.Sprintf("%s:rw:as=%s:for=%s", x.dir, x.account, x.by))
	}
	return settings, nil
}

// filesIn counts the files of a folder.
func filesIn(dir string) int64 {
	all, _ := os.ReadDir(dir)
	return int64(len(all))
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
