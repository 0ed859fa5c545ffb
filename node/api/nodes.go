package api

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

func (s *Server) listNodes(ctx context.Context, _ *struct{}) (*v1.NodeList, error) {
	l := &v1.NodeList{Nodes: []v1.Node{}}
	err := s.b.Read(ctx, func(v *node.Node, now gridTime) {
		for _, p := range v.Peers(now, nil) {
			l.Nodes = append(l.Nodes, nodeOf(&p, false))
		}
	})
	copies := s.copies()
	for i := range l.Nodes {
		l.Nodes[i].Copy = copies[l.Nodes[i].ID]
	}
	l.Nodes = s.versions().Mark(l.Nodes)
	slices.SortStableFunc(l.Nodes, func(a, b v1.Node) int {
		return rank(a) - rank(b)
	})
	return l, err
}

func rank(n v1.Node) int {
	if n.State == v1.NodeSelf {
		return 0
	}
	return 1
}

type nodeIn struct {
	Node string `path:"node" doc:"Node ID: whole, a beginning of 4 characters or more; its name; or self."`
}

// nodeNamed returns the ID of the node that a reference names.
func (s *Server) nodeNamed(ctx context.Context, ref string) (grid.NodeID, error) {
	if ref == "self" {
		return s.self, nil
	}
	n, err := s.getNode(ctx, &nodeIn{Node: ref})
	if err != nil {
		return grid.NodeID{}, err
	}
	return grid.ParseNodeID(n.ID)
}

func (s *Server) getNode(ctx context.Context, in *nodeIn) (*v1.Node, error) {
	var found []v1.Node
	err := s.b.Read(ctx, func(v *node.Node, now gridTime) {
		for _, p := range v.Peers(now, nil) {
			if isNode(&p, in.Node) {
				found = append(found, nodeOf(&p, true))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	gaps := s.versions()
	if len(found) == 0 {
		found = gaps.Named(in.Node, minPrefix)
	}
	switch found = gaps.Known(found); len(found) {
	case 0:
		return nil, huma.Error404NotFound("node " + quote(in.Node) +
			": is not known here: want an ID, 4 characters or more of its beginning, a name, or self")
	case 1:
		if found[0].ID == s.self.String() {
			found[0].Findings = s.o.Findings
		}
		found[0].Copy = s.copies()[found[0].ID]
		if id, err := grid.ParseNodeID(found[0].ID); err == nil {
			found[0].Certificate = s.o.Members.Certificate(id)
		}
		return &found[0], nil
	}
	var which []error
	for _, n := range found {
		which = append(which, &huma.ErrorDetail{Message: strings.TrimSpace(n.ID + " " + n.Name)})
	}
	return nil, huma.Error409Conflict("node "+quote(in.Node)+": could be any of these", which...)
}

// copies returns the processes that were found to have the identity of a node, by that.
func (s *Server) copies() map[string]*v1.Copy {
	if s.o.Copies == nil {
		return nil
	}
	found := map[string]*v1.Copy{}
	for n, c := range s.o.Copies() {
		found[n.String()] = &c
	}
	return found
}

// versions returns the nodes that speak another version of the control protocol.
func (s *Server) versions() v1.VersionGaps {
	if s.o.Versions == nil {
		return nil
	}
	return v1.VersionGapsOf(s.o.Versions())
}

// isNode reports whether text names a node.
func isNode(p *node.PeerView, text string) bool {
	if text == "self" {
		return p.Self
	}
	return text != "" && p.Ad.Name == text || len(text) >= minPrefix && strings.HasPrefix(p.Ad.Node.String(), text)
}

func nodeOf(p *node.PeerView, rates bool) v1.Node {
	ad := p.Ad
	n := v1.Node{
		ID: ad.Node.String(), Name: ad.Name, State: peerState(p), Refuses: p.Refuses.String(),
		Cores: float64(ad.Capacity.CPU) / 1000, FreeCores: float64(ad.Free.CPU) / 1000,
		Memory: int64(ad.Capacity.Memory), FreeMem: int64(ad.Free.Memory),
		Resources: v1.ResourcesOf(ad),
		Backlog:   ad.Backlog.Seconds(), Speed: ad.Speed, Up: ad.Availability,
		RTT: p.RTT.Seconds(), Age: p.Age.Seconds(), Hops: p.Hops, Neighbour: p.Neighbour,
		Engines: ad.Engines, Labels: labelsOf(ad.Labels),
		Located: v1.Located{Addrs: ad.Addrs}, Isolated: v1.Isolated{Private: ad.Private},
		Terms: v1.Terms{Accept: v1.ExpressionText(ad.Accept), Price: ad.Price.Number(),
			LeastSpeed: ad.Sharing.Least, Bids: ad.Sharing.Bids},
	}
	n.Isolation, _ = ad.Label(grid.IsolationLabel)
	if level, err := grid.ParseIsolation(n.Isolation); err != nil {
		n.Isolation = level.String()
	}
	if rates {
		for _, r := range ad.Rates {
			n.Rates = append(n.Rates, v1.Rate{Class: r.Class, Arrive: r.Alpha, Execute: r.Mu})
		}
	}
	return n
}

func labelsOf(labels []grid.Label) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	m := make(map[string]string, len(labels))
	for _, l := range labels {
		m[l.Key] = l.Value
	}
	return m
}

func peerState(p *node.PeerView) string {
	switch {
	case p.Ad.Leaving:
		return v1.NodeLeaving
	case p.Ad.Draining:
		return v1.NodeDraining
	case p.Self:
		return v1.NodeSelf
	case p.Connected:
		return v1.NodeConnected
	}
	return v1.NodeKnown
}

// statsTime bounds reading the node's counts.
const statsTime = 5 * time.Second

func (s *Server) stats(ctx context.Context) (st node.Stats, err error) {
	ctx, cancel := context.WithTimeout(ctx, statsTime)
	defer cancel()
	err = s.b.Read(ctx, func(v *node.Node, now gridTime) { st = v.Stats(now) })
	return st, err
}

func (s *Server) getStats(ctx context.Context, _ *struct{}) (*v1.Stats, error) {
	st, err := s.stats(ctx)
	if err != nil {
		return nil, err
	}
	dropped := map[string]uint64{"stale": st.Stale, "full": st.Full}
	for why, n := range s.b.Dropped() {
		dropped[why] += n
	}
	return &v1.Stats{
		Sent: byKind(&st.Sent), Received: byKind(&st.Received), Dropped: dropped,
		Moved: st.Moved, Local: st.Local, Lost: st.Lost, Copies: st.Backups, Retried: st.Retried,
		Ends: v1.Ends{Good: st.Good, Missed: st.Missed, Bids: st.InTime + st.Late, InTime: st.InTime, Weighted: st.Weighted,
			Value: st.Value, Suspensions: st.Suspensions},
		Queued: st.Queued, Running: st.Running,
		Backlog: st.Backlog.Seconds(), Jobs: st.Jobs, Pending: st.Pending, Peers: st.Peers, Lambda: st.Lambda,
		Solves: st.Solves,
	}, nil
}

func byKind(counts *[grid.Kinds]uint64) map[string]uint64 {
	m := make(map[string]uint64, len(counts))
	for k := 1; k < len(counts); k++ {
		m[grid.Kind(k).String()] = counts[k]
	}
	return m
}

type inviteIn struct{ Body v1.InviteRequest }

func (s *Server) invite(ctx context.Context, in *inviteIn) (*v1.Invite, error) {
	r, c := &in.Body, s.callerOf(ctx)
	if !(r.Expires > 0 && r.Expires < math.MaxInt64/float64(time.Second)) {
		return nil, huma.Error422UnprocessableEntity("expires_seconds: want more than 0")
	}
	text, err := s.o.Members.Invite(r.Name, r.Roles, r.Uses, time.Duration(r.Expires*float64(time.Second)))
	if err != nil {
		return nil, asUsage(err)
	}
	s.log.record(entry{act: "invite", of: "node", id: r.Name, by: c.node, user: c.user})
	return &v1.Invite{Invite: text}, nil
}

type revokeIn struct{ Body v1.RevokeRequest }

func (s *Server) revoke(ctx context.Context, in *revokeIn) (*v1.Revoked, error) {
	id, name, err := s.o.Members.Revoke(in.Body.Node)
	if err != nil {
		return nil, asUsage(err)
	}
	c := s.callerOf(ctx)
	s.log.record(entry{act: "revoke", of: "node", id: id.String(), by: c.node, user: c.user})
	return &v1.Revoked{Node: id.String(), Name: name}, nil
}

// asUsage gives an error about what was asked for a status.
func asUsage(err error) error { return huma.Error422UnprocessableEntity(err.Error()) }
