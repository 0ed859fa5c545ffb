package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"skep/grid"
	"skep/node/api/v1"
)

func main() { os.Exit(skep()) }

// skep runs the command line of this process and returns its exit code.
func skep() int {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return a.main(context.Background(), takeArgs())
}

// app is the state that all verbs share: the streams and the global flags.
type app struct {
	in             io.Reader
	out            io.Writer
	err            io.Writer
	dataDir        string
	capabilityFile string // capability for the job verbs
	remote         string // file that says how to reach a node on another machine
	record         string // of up
	newIdentity    bool   // of up
	net            string // name of the testnet
	quiet          bool   // no progress is shown
}

// main runs a command line and returns its exit code. An error is one message on the error stream.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if cmd != nil && exitsWithTaskCode(cmd) {
		code = grid.ExitSkep
	}
	var refused *v1.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		code = grid.ExitSkep
	}
	var exit *exitError
	if errors.As(err, &exit) {
		code, err = exit.code, exit.err
	}
	if err != nil {
		fmt.Fprintln(a.err, "skep:", sanitize(strings.TrimSpace(err.Error())))
	}
	return code
}

// exitsWithTaskCode reports whether a verb exits with the code of tasks, so that its own errors need a code other than
// 1.
func exitsWithTaskCode(cmd *cobra.Command) bool {
	switch parent := cmd.Parent(); {
	case parent == nil:
		return false
	case cmd.Name() == "exec":
		return parent.Parent() == nil
	case cmd.Name() == "run":
		return parent.Parent() == nil || parent.Name() == "testnet"
	default:
		return cmd.Name() == "wait" && parent.Name() == "job"
	}
}

// exitError ends the program with a code; err may be nil if everything has been printed.
type exitError struct {
	code int
	err  error
}

// Error returns the message.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }
