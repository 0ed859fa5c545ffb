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

// app is what all verbs share: the streams, and the flags that are global.
type app struct {
	in      io.Reader
	out     io.Writer
	err     io.Writer
	dataDir string
	opener  string // file of the capability that job verbs show
	remote  string // file that says how to ask a node on another machine
	record  string // of up
	net     string // the testnet that is meant
}

// main runs a command line. What goes wrong is one message on the error stream and a code that is not 0.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if cmd != nil && saysTaskCode(cmd) {
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
		fmt.Fprintln(a.err, "skep:", shown(strings.TrimSpace(err.Error())))
	}
	return code
}

// saysTaskCode reports whether a verb exits with the code of tasks, so that its own errors need another one than 1.
func saysTaskCode(cmd *cobra.Command) bool {
	switch parent := cmd.Parent(); {
	case parent == nil:
		return false
	case cmd.Name() == "run":
		return parent.Parent() == nil || parent.Name() == "testnet"
	default:
		return cmd.Name() == "wait" && parent.Name() == "job"
	}
}

// exitError ends the program with a code; err may be nil where all has been said.
type exitError struct {
	code int
	err  error
}

// Error says what happened.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns what happened.
func (e *exitError) Unwrap() error { return e.err }
