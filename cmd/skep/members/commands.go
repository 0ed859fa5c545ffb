package members

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skep/node/api/client"
	"skep/node/api/v1"
	"skep/node/p2p/credentials"
)

// Commands makes the commands.
type Commands struct {
	Client func() (*client.Client, error) // of the node at hand
	Out    io.Writer
}

// RootKey reads the root key that `skep root new` has written to a file.
func RootKey(file string) (ed25519.PrivateKey, error) { return credentials.ReadRoot(file) }

// Invite returns `skep node invite`.
func (c Commands) Invite() *cobra.Command {
	var r v1.InviteRequest
	var lasts time.Duration
	cmd := &cobra.Command{Use: "invite --name NAME", Short: "Print an invite to a network with certificates",
		Args: cobra.NoArgs,
		Long: "Print an invite to a network with certificates, at one of its issuers:\n\n" +
			"  skep up --join-file FILE     on another machine, with a file of mode 0600 that has it\n\n" +
			"This node alone redeems it, and must be reached directly then. Whoever redeems it gets a certificate with the\n" +
			"name and the roles, for a day, which this node renews:\n" +
			"  run      accepts the tasks of others\n" +
			"  submit   has its jobs run by others\n" +
			"  relay    relays for members that cannot be dialled\n" +
			"  admin    drains other nodes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Name == "" {
				return errors.New("node invite: want --name NAME: that of the member")
			}
			r.Expires = lasts.Seconds()
			node, err := c.Client()
			if err != nil {
				return err
			}
			defer node.Close()
			i, err := node.Invite(cmd.Context(), &r)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.Out, i.Invite)
			return err
		}}
	f := cmd.Flags()
	f.StringVar(&r.Name, "name", "", "name of the member, in its certificate")
	f.StringSliceVar(&r.Roles, "role", []string{"run", "submit", "relay"}, "what it may do: run, submit, relay, admin")
	f.IntVar(&r.Uses, "uses", 1, "how many nodes may join with it")
	f.DurationVar(&lasts, "expires", time.Hour, "how long it can be redeemed")
	return cmd
}

// Revoke returns `skep node revoke`.
func (c Commands) Revoke() *cobra.Command {
	return &cobra.Command{Use: "revoke NAME|ID", Short: "Put a member out of a network with certificates",
		Long: "Put a member out of a network with certificates, at one of its issuers, by the name in its certificate\n" +
			"or its whole ID. It returns when that is on disk here. Members that are connected hear of it at once and\n" +
			"disconnect the node; others when they next connect to one that knows. It can come back with a new invite alone.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("node revoke: want the name in a member's certificate, or its whole ID")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			node, err := c.Client()
			if err != nil {
				return err
			}
			defer node.Close()
			r, err := node.Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Out, "%s (%s) is put out\n", r.Name, r.Node)
			return err
		}}
}

// Root returns `skep root`.
func (c Commands) Root() *cobra.Command {
	newKey := &cobra.Command{Use: "new FILE", Short: "Make the root key of a network with certificates",
		Long: "Make the root key of a network with certificates, in a new file:\n\n" +
			"  skep up --root FILE     founds the network, and makes the node an issuer: it invites others\n\n" +
			"Whoever has the file can let anybody in. No node needs it afterwards, but for a start once a year: keep it on a\n" +
			"medium that is not connected to a network.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("root new: want the name of a new file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			id, err := credentials.NewRoot(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Out, "root key %s in %s\nFound the network with: skep up --root %[2]s\n", id, args[0])
			return err
		}}
	cmd := &cobra.Command{Use: "root", Short: "Make the root key of a network with certificates",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %.80q: see skep root --help", strings.Join(args, " "))
			}
			return cmd.Help()
		}}
	cmd.AddCommand(newKey)
	return cmd
}
