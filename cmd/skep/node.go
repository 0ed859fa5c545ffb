package main

import (
	"github.com/spf13/cobra"

	"skep/cmd/skep/members"
)

func (a *app) nodeCmd() *cobra.Command {
	m := a.members()
	return parent("node", "Ask about nodes, drain them, let them in and put them out", a.nodeListCmd(),
		a.nodeDescribeCmd(), a.nodeDrainCmd(), a.nodeTokenCmd(), m.Invite(), m.Revoke())
}

// members are the commands about who is a member.
func (a *app) members() members.Commands { return members.Commands{Client: a.client, Out: a.out} }
