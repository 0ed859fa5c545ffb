// Package hostile is a member that says what it likes: it knows the secret of a network and speaks the protocols of its
// nodes, but keeps none of their rules. Tests and the program of attacks use it.
//
// The idea: each protocol is spoken by code of its own, which checks nothing and bounds nothing, so what a node lets in is
// decided by that node alone. A Member is one identity on one connection to each node; whoever wants to be many joins
// several times.
//
//	m, err := hostile.Join(ctx, hostile.Options{Token: token}) // connected to the node that made the token
//	c, err := m.Control(ctx, m.Node())                         // a control stream: m is a peer that is up
//	err = c.Say(&grid.Message{Kind: grid.KindPoll, …})         // encoded as an honest member encodes it
//	err = c.Frame(bytes)                                       // any bytes as one frame
//	g, err := m.Gossip(ctx, m.Node())                          // gossipsub
//	err = g.Send(&hostile.RPC{Subscribe: names})               // or g.Frame(bytes)
//	s, err := m.Stream(ctx, m.Node(), hostile.Door)            // any other protocol, raw
//
// Writes fail once the node has cut the member off, or take as long as the node does not read: SetDeadline bounds that.
// Nothing that runs tasks may import this package.
package hostile
