package p2p

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	ds "github.com/ipfs/go-datastore"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/node/p2p/transport"
)

// lastPorts are the ports that a node had in its last run at the addresses where it takes any. It takes them again if
// they are free: nodes that were all down find each other at the addresses that they knew.
type lastPorts map[string]int

var lastPortsKey = ds.NewKey("/listen")

// readPorts reads those of the last run; there are none if they cannot be read.
func readPorts(ctx context.Context, data ds.Datastore) (p lastPorts) {
	if b, err := data.Get(ctx, lastPortsKey); err != nil || json.Unmarshal(b, &p) != nil {
		return nil
	}
	return p
}

// again returns the addresses to listen on, with these ports where they are free.
func (p lastPorts) again(listen []string) []string {
	list := make([]string, len(listen))
	for i, text := range listen {
		list[i] = text
		at, err := transport.TCPAddr(text)
		if err != nil || at.Port != 0 || p[text] <= 0 {
			continue
		}
		at.Port = p[text]
		if same, err := manet.FromNetAddr(at); err == nil && transport.CheckListen(same.String()) == nil {
			list[i] = same.String()
		}
	}
	return list
}

// open opens at these addresses with the ports of the last run. If that fails, as another process has taken one of them
// since it was seen to be free, it opens at the addresses as they are.
func (p lastPorts) open(listen []string, open func(listen []string) error) error {
	again := p.again(listen)
	err := open(again)
	if err != nil && !slices.Equal(again, listen) {
		err = open(listen)
	}
	return err
}

// maxLastPorts bounds the addresses whose ports are kept.
const maxLastPorts = 16

// save saves the ports of the addresses that the node listens on, if they are not those of the last run. Those of
// addresses on which it listened before stay: a run at another address is no reason to take another port here.
func (p lastPorts) save(ctx context.Context, data ds.Datastore, listen []string, bound []ma.Multiaddr) error {
	now, same := make(lastPorts), true
	for _, text := range listen {
		at, err := transport.TCPAddr(text)
		if err != nil || at.Port != 0 {
			continue
		}
		for _, b := range bound {
			if x, err := transport.TCPAddr(b.String()); err == nil && x.IP.Equal(at.IP) && now[text] == 0 {
				now[text] = x.Port
			}
		}
		same = same && now[text] == p[text]
	}
	if same {
		return nil
	}
	for _, text := range slices.Sorted(maps.Keys(p)) {
		if now[text] == 0 && len(now) < maxLastPorts {
			now[text] = p[text]
		}
	}
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return data.Put(ctx, lastPortsKey, b)
}
