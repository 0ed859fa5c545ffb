package main

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/discovery"
	"skep/document"
	"skep/grid"
	"skep/node"
	"skep/node/p2p"
	"skep/sim/net"
)

// nodeSettings are the settings of `skep up`.
type nodeSettings struct {
	p2p.Config
	api       string
	joinFiles []string
	rootFile  string
	inConfig  bool          // the config file holds a secret
	drain     time.Duration // time for running tasks when the node is told to stop
	level     slog.Level
	obsolete  []string // what was given of obsoleteSettings

	access grid.Access   // of jobs without one
	admins []grid.NodeID // may drain this node; none = all members
}

// settings are all settings of a node.
var settings = slices.Concat(ownSettings, signSettings, keepSettings, orderSettings, boxSettings, engineSettings,
	obsoleteSettings)

var ownSettings = []setting{
	{name: "name", usage: "what people call the node (default the host's name)",
		apply: func(n *nodeSettings, v []string) error { n.Name = v[0]; return nil }},
	{name: "join", usage: "token of a network to join, as skep node token printed it; -: the standard input has it",
		shape: several, secret: true, apply: func(n *nodeSettings, v []string) error { n.Join = v; return nil }},
	{name: "join_file", shape: several,
		usage: "file with such a token, or with what skep node invite printed, best of mode 0600",
		apply: func(n *nodeSettings, v []string) error { n.joinFiles = v; return nil }},
	{name: "root",
		usage: "file with the root key of a network with certificates, as skep root new made it: found the network, or be " +
			"an issuer of it",
		apply: func(n *nodeSettings, v []string) error { n.rootFile = v[0]; return nil }},
	{name: "listen", usage: "multiaddress to listen on, as in /ip4/0.0.0.0/tcp/7420 (default any port, or the one of " +
		"the last run if it is free)", shape: several,
		apply: func(n *nodeSettings, v []string) error { n.Listen = v; return nil }},
	{name: "announce",
		usage: "multiaddress that others dial, where that is not the machine's own, as in /ip4/203.0.113.7/tcp/7420",
		shape: several,
		apply: func(n *nodeSettings, v []string) error { n.Announce = v; return nil }},
	{name: "api", usage: "address of the API besides the socket, as in 127.0.0.1:7420; in TLS on others than loopback",
		apply: func(n *nodeSettings, v []string) error { n.api = v[0]; return nil }},
	{name: "label", usage: "KEY=VALUE that tasks may ask for", shape: pairs, apply: setLabels},
	{name: "cpus", usage: "cores that tasks may take (default all)", apply: func(n *nodeSettings, v []string) error {
		c, err := document.ParseCores(v[0])
		n.CPUs = grid.MilliCPU(math.Round(c * 1000))
		return err
	}},
	{name: "memory", usage: "memory that tasks may take, as in 8GiB (default three quarters)",
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.Memory, v[0]) }},
	{name: "resource",
		usage: "KIND=N units of a counted resource that tasks may need, as in gpu=2; gpu=0 where a GPU is not to be given " +
			"(default the GPUs of the machine)", shape: pairs, apply: setResources},
	{name: "policy", usage: "placement policy", def: []string{"lpas_dec"},
		apply: func(n *nodeSettings, v []string) error { n.Node.Policy = v[0]; return nil }},
	{name: "members", usage: "nodes that keep a job submitted here: 1, 3 or 5, or as many as are connected",
		def: []string{"3"}, apply: setMembers},
	{name: "replace_after", usage: "another node keeps a job in the place of one that is dead for so long; 0s = never",
		def: []string{"0s"}, apply: setReplaceAfter},
	{name: "copies",
		usage: "bound of a job's inputs, and of what one task leaves, that the other nodes which keep the job copy",
		def:   []string{"256MiB"},
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.Node.DepositLimit, v[0]) }},
	{name: "lend",
		usage: "bound of the disk space for such copies of the jobs of others, half of it for one node; at most half of " +
			"cache",
		def:   []string{"2GiB"},
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.Node.DepositQuota, v[0]) }},
	{name: "strikes", usage: "nodes that a task may fail on until it ends, 0 for as many as its retries allow",
		def: []string{"3"}, apply: setStrikes},
	{name: "rule", usage: "dissemination rule: which news of other nodes this one hands on",
		def: []string{"probabilistic*change_sensitive"},
		apply: func(n *nodeSettings, v []string) error {
			if err := net.CheckRule(v[0]); err != nil {
				return err
			}
			n.Node.Gossip.Rule = v[0]
			return nil
		}},
	{name: "forward", usage: "how searches go from node to node: " + strings.Join(discovery.Forwards(), ", "),
		def:   []string{discovery.Defaults().Forward},
		apply: setForward},
	{name: "walkers", usage: "walks that a search sends at once, 1 to 4",
		def: []string{strconv.Itoa(discovery.Defaults().Walkers)}, apply: setWalkers},
	{name: "reverse_path", usage: "true: nodes that a search came by learn from it, too", def: []string{"false"},
		apply: func(n *nodeSettings, v []string) (err error) {
			n.Node.Discovery.Reverse, err = document.ParseBool(v[0])
			return err
		}},
	{name: "balance",
		usage: "poll_max=N: other nodes asked for a task, 0 for all that the policy would ask (default poll_max=4); " +
			"bandwidth=N: bytes a second of a link that was not measured, for inputs (default bandwidth=12.5e6)",
		shape: pairs,
		apply: setKnobs("balance", "poll_max", "bandwidth")},
	{name: "gossip", usage: "view=N: other nodes that this one remembers (default view=256)", shape: pairs,
		apply: setKnobs("gossip", "view")},
	{name: "share",
		usage: "CLASS=PART: part of the time that tasks of a class may run here, more than 0 to 1; * is every class",
		shape: pairs, apply: setShares},
	{name: "bound",
		usage: "CLASS=TIME:NEXT: a task of a class that runs here for longer is stopped, and placed again as one of " +
			"class NEXT", shape: pairs, apply: setBounds},
	{name: "mdns", flag: "no-mdns", usage: "do not look for nodes of the network on the local network",
		def: []string{"true"}, shape: onOff,
		apply: func(n *nodeSettings, v []string) (err error) {
			n.MDNS, err = document.ParseBool(v[0])
			return err
		}},
	{name: "allow", usage: "ID of a node to talk to; if given, to no others", shape: several, apply: setAllow},
	{name: "admins", usage: "ID of a node that may drain this one, besides itself (default every member)", shape: several,
		apply: setAdmins},
	{name: "access",
		usage: "who may see and cancel the jobs submitted here that do not say: members, or owner, who keeps a capability",
		def:   []string{string(grid.AccessMembers)},
		apply: func(n *nodeSettings, v []string) error { n.access = grid.Access(v[0]); return checkAccess(v[0]) }},
	{name: "cache", usage: "bound of the blobs on disk", def: []string{"10GiB"},
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.CacheSize, v[0]) }},
	{name: "disk_reserve", usage: "free disk space below which the node takes no tasks", def: []string{"256MiB"},
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.DiskLow, v[0]) }},
	{name: "max_output", usage: "bound of what a task prints on each stream", def: []string{"64MiB"},
		apply: func(n *nodeSettings, v []string) error { return setSize(&n.MaxOutput, v[0]) }},
	{name: "drain", usage: "how long running tasks may go on when the node is told to stop, as in 30s; 0s: not at all",
		def: []string{"8s"}, apply: setDrain},
	{name: "log_level", usage: "debug, info, warn or error", def: []string{"info"},
		apply: func(n *nodeSettings, v []string) error {
			if n.level.UnmarshalText([]byte(v[0])) != nil {
				return fmt.Errorf("%.40q: want debug, info, warn or error", v[0])
			}
			return nil
		}},
}

func setSize(dst *grid.Bytes, text string) error {
	n, err := document.ParseSize(text)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q: want more than 0", text)
	}
	*dst = grid.Bytes(n)
	return err
}

func setMembers(n *nodeSettings, v []string) (err error) {
	m := &n.Node.Members
	if *m, err = strconv.Atoi(v[0]); err != nil || *m != 1 && *m != 3 && *m != grid.MaxMembers {
		return fmt.Errorf("%.40q: want 1, 3 or %d", v[0], grid.MaxMembers)
	}
	return nil
}

// setDrain parses the bound of a stop. The default is below the 10 s after which docker stop kills.
func setDrain(n *nodeSettings, v []string) (err error) {
	if n.drain, err = time.ParseDuration(v[0]); err != nil || n.drain < 0 || n.drain > node.MaxDrain {
		return fmt.Errorf("%.40q: want 0s to %v", v[0], node.MaxDrain)
	}
	return nil
}

func setForward(n *nodeSettings, v []string) error {
	n.Node.Discovery.Forward = v[0]
	if !slices.Contains(discovery.Forwards(), v[0]) {
		return fmt.Errorf("%.40q: want one of %s", v[0], strings.Join(discovery.Forwards(), ", "))
	}
	return nil
}

func setWalkers(n *nodeSettings, v []string) (err error) {
	w := &n.Node.Discovery.Walkers
	if *w, err = strconv.Atoi(v[0]); err != nil || *w < 1 || *w > 4 {
		return fmt.Errorf("%.40q: want 1 to 4", v[0])
	}
	return nil
}

func setLabels(n *nodeSettings, values []string) error {
	for _, l := range values {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" {
			return fmt.Errorf("%.80q: want KEY=VALUE", l)
		}
		n.Labels = append(n.Labels, grid.Label{Key: k, Value: v})
	}
	return nil
}

// setShares parses CLASS=PART; a class may contain an equals sign.
func setShares(n *nodeSettings, values []string) error {
	n.Share = map[string]float64{}
	for _, l := range values {
		i := strings.LastIndexByte(l, '=')
		if i < 1 {
			return fmt.Errorf("%.80q: want CLASS=PART, as in sweep=0.5", l)
		}
		p, err := strconv.ParseFloat(l[i+1:], 64)
		if err != nil || !(p > 0 && p <= 1) {
			return fmt.Errorf("%.80q: want a part of more than 0 and at most 1", l)
		}
		n.Share[l[:i]] = p
	}
	return nil
}

func setBounds(n *nodeSettings, values []string) (err error) {
	n.Node.Bounds = make([]node.Bound, len(values))
	for i, v := range values {
		b := &n.Node.Bounds[i]
		if b.Class, b.Time, b.Next, err = document.ParseBound(v); err != nil {
			return err
		}
	}
	return nil
}

func setAllow(n *nodeSettings, values []string) error {
	for _, v := range values {
		id, err := grid.ParseNodeID(v)
		if err != nil {
			return err
		}
		n.Allow = append(n.Allow, id)
	}
	return nil
}

func setAdmins(n *nodeSettings, values []string) error {
	for _, v := range values {
		id, err := grid.ParseNodeID(v)
		if err != nil {
			return err
		}
		n.admins = append(n.admins, id)
	}
	return nil
}
