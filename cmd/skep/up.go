package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skep/cmd/skep/heldlog"
	"skep/cmd/skep/members"
	"skep/grid"
	"skep/internal/collector"
	"skep/node"
	"skep/node/api"
	"skep/node/api/audit"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
	"skep/node/p2p"
)

// leaveTimeout bounds leaving and stopping.
const leaveTimeout = 10 * time.Second

func (a *app) upCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "up", Short: "Be a node of a network: the one of a token, or a new one", Args: noArgs,
		Long: "Be a node of a network: the one that a token names, the one that the data folder knows, or a new one.\n\n" +
			"With --root FILE the new network has certificates: each other node joins with an invite of skep node invite.\n" +
			"Members of a network run programs on each other's machines, in boxes: what a task can reach there is in " +
			"docs/trust.md.\n" +
			"The token is best given with --join-file or --join -, which no list of processes and no shell's\n" +
			"history shows; a node that has joined starts again without it.\n" +
			"Settings also come from " + configName + " in the data folder and from the environment: see skep config show.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := loadSettings(a.folder(), cmd.Flags())
			if err != nil {
				return err
			}
			n, err := applySettings(m)
			if err != nil {
				return err
			}
			ctx, hurry, stop := onStop(cmd.Context())
			defer stop()
			return a.up(ctx, hurry, n, api.Options{Version: thisVersion(), Settings: listSettings(a.folder(), a.dirSource(cmd),
				m)})
		}}
	addSettings(cmd.Flags())
	cmd.Flags().StringVar(&a.record, "record", "",
		"file to record into what this node is told, for skep sim replay; holds what jobs are given")
	cmd.Flags().BoolVar(&a.newIdentity, "new-identity", false,
		"be a new node in a data folder that was copied, once; what it has of the other node's jobs and files is removed")
	return cmd
}

// up runs a node until ctx ends or the node fails. Running tasks may end until hurry ends.
func (a *app) up(ctx, hurry context.Context, n *nodeSettings, o api.Options) (err error) {
	starting := heldlog.New(a.err) // of a node that does not start only the error is said
	log := newLog(a.err, starting, n.level)
	if err := a.readJoin(n, log); err != nil {
		return err
	}
	dead := make(chan error, 1)
	meeting, give := context.WithCancel(ctx)
	defer give()
	n.DataDir, n.Version, n.Logger = a.folder(), version, log
	n.Fatal = func(err error) {
		select {
		case dead <- err:
		default:
		}
		give()
	}
	listeners, err := api.Listen(n.api)
	if err != nil {
		return err
	}
	defer listeners.Close()
	if a.record != "" {
		rec, done, err := a.recorder(a.record, log)
		if err != nil {
			return err
		}
		n.Recorder = rec
		defer done() // after the driver is closed
	}
	if len(n.obsolete) > 0 {
		log.Warn(obsoleteWarning(n.obsolete))
	}
	if os.Getenv("GOGC") == "" {
		defer collector.New().Stop()
	}
	d, err := a.openNode(ctx, n, log)
	if err != nil {
		return err
	}
	_, findings := d.Isolation()
	for _, f := range findings {
		o.Findings = append(o.Findings, f.String())
	}
	defer func() {
		err = errors.Join(err, closeDriver(d))
		select {
		case why := <-dead: // during the start or the stop
			err = storeError(why)
		default:
		}
	}()
	if err := listeners.Open(n.DataDir); err != nil {
		return err
	}
	starting.Release()
	o.Log, o.Access, o.Admins, o.Secrets = log, n.access, n.admins, d.Secrets()
	o.Version.Network = d.Network()
	o.Copies = func() map[grid.NodeID]v1.Copy { return copiesOf(d) }
	acts, err := audit.Open(n.DataDir)
	if err != nil {
		return err
	}
	defer acts.Close()
	o.Audit, o.Members = acts, members.API{Driver: d}
	o.Versions = func() map[grid.NodeID]v1.VersionGap { return versionGapsOf(d) }
	serveCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // the API of a draining node still answers
	defer stop()
	served := make(chan error, 1)
	go func() { served <- api.New(d, o).Serve(serveCtx, listeners) }()
	if len(n.Join) > 0 && !awaitMember(meeting, d) && meeting.Err() == nil {
		log.Warn("no member of the network has answered yet; going on trying", "after", meetTimeout)
	}
	// if told to stop during the start, it stops as usual
	if err := a.ready(ctx, d, listeners); err != nil && ctx.Err() == nil {
		return err
	}
	select {
	case <-ctx.Done():
		if !n.Boxes.Engine.Elsewhere() { // else what runs goes on, and is found again
			finish(hurry, d, n.drain, log)
		}
		stop()
		return <-served
	case err := <-served:
		return err
	case err := <-dead:
		return storeError(err)
	}
}

// copiesOf returns the nodes whose identity two processes have.
func copiesOf(d *p2p.Driver) map[grid.NodeID]v1.Copy {
	found := map[grid.NodeID]v1.Copy{}
	for n, c := range d.Copies() {
		found[n] = v1.Copy{Host: c.Process.Host, Process: c.Process.Number, Addr: c.Addr, Seen: time.Since(c.Seen).Seconds()}
	}
	return found
}

// storeError returns the error of a node whose records cannot be saved.
func storeError(err error) error {
	return &exitError{code: grid.ExitSkep, err: fmt.Errorf("cannot go on: %w", err)}
}

func closeDriver(d *p2p.Driver) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if err := d.Close(ctx); err != nil && !errors.Is(err, p2p.ErrClosed) {
		return fmt.Errorf("leaving: %w", err)
	}
	return nil
}

// ready prints the node's name and addresses and how others join.
func (a *app) ready(ctx context.Context, d *p2p.Driver, listeners *api.Listeners) error {
	var name string
	err := d.Read(ctx, func(n *node.Node, now grid.Time) {
		for _, p := range n.Peers(now, nil) {
			if p.Self {
				name = p.Ad.Name
			}
		}
	})
	if err != nil {
		return err
	}
	dir := a.folder()
	var b strings.Builder
	fmt.Fprintf(&b, "READY %s (%s)\n", name, d.Self())
	for _, addr := range d.Addrs() {
		fmt.Fprintf(&b, "  address  %s\n", addr)
	}
	fmt.Fprintf(&b, "  api      %s\n", filepath.Join(dir, client.SocketName))
	for _, url := range listeners.URLs() {
		fmt.Fprintf(&b, "  api      %s (what a client needs: %s --api)\n", url, tokenCommand(dir))
	}
	if d.HasCertificates() {
		b.WriteString("Let another machine in: at an issuer, skep node invite --name NAME; there, skep up --join-file FILE\n")
		_, err = io.WriteString(a.out, b.String())
		return err
	}
	token := tokenCommand(dir)
	b.WriteString("Join from another machine: there, skep up --join - and paste what is printed here by\n")
	fmt.Fprintf(&b, "  %s\nJoin from this machine:\n", token)
	fmt.Fprintf(&b, "  %s | skep up --data-dir %s --join -\n", token, quoted(freeFolder(dataHome())))
	_, err = io.WriteString(a.out, b.String())
	return err
}

// tokenCommand returns the command that prints the join token of the node in a folder. The token itself is not printed
// at the start, as that output is kept in journals.
func tokenCommand(dir string) string {
	if dir == dataHome() {
		return "skep node token"
	}
	return "skep --data-dir " + quoted(dir) + " node token"
}

// freeFolder returns an unused folder beside the default one.
func freeFolder(dir string) string {
	for i := 2; i < 100; i++ {
		d := fmt.Sprintf("%s-%d", dir, i)
		if _, err := os.Lstat(d); err != nil {
			return d
		}
	}
	return dir + "-N"
}
