// Package hostile is a misbehaving member: it knows the secret of a network and speaks the protocols of its nodes,
// but follows none of their rules. Tests and the attack program use it.
//
// Each protocol is implemented separately, without checks or bounds, so the node under test alone decides what it
// accepts. A Member is one identity with one connection to each node; several identities join several times.
//
//	m, err := hostile.Join(ctx, hostile.Options{Token: token}) // connected to the node that made the token
//	c, err := m.Control(ctx, m.Node())                         // a control stream: m is a peer that is up
//	err = c.Say(&grid.Message{Kind: grid.KindPoll, …})         // encoded as an honest member encodes it
//	err = c.Frame(bytes)                                       // any bytes as one frame
//	g, err := m.Gossip(ctx, m.Node())                          // gossipsub
//	err = g.Send(&hostile.RPC{Subscribe: names})               // or g.Frame(bytes)
//	s, err := m.Stream(ctx, m.Node(), hostile.APIStream)       // any other protocol, raw
//
// Writes fail once the node has disconnected the member, or block as long as the node does not read: SetDeadline
// bounds that. Nothing that runs tasks may import this package.
package hostile
