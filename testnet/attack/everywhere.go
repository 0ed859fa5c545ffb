package attack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Here names the user that this program runs as.
func Here() string {
	if os.Getuid() == 0 {
		return "root"
	}
	return fmt.Sprintf("user %d", os.Getuid())
}

// versions of Landlock that a node is forced to: none, that of Debian 12 and Ubuntu 22.04, and two that know more.
var versions = []string{"", "0", "2", "4", "7"}

// place is an environment in which nodes are attacked.
type place struct {
	name  string
	start func(ctx context.Context, args ...string) *exec.Cmd // this program there
	skip  error                                               // why it cannot be had
}

// runTime bounds a run in one place.
const runTime = 10 * time.Minute

// Everywhere attacks nodes in all environments that this machine has, and prints what became of it; full, if not nil,
// gets the outcome of every attack. It returns an exit code.
func Everywhere(ctx context.Context, o *Options, w, full io.Writer) int {
	places, done, err := places(ctx, o)
	if err != nil {
		fmt.Fprintln(w, err)
		return 2
	}
	defer done()
	var reports []*Report
	for _, p := range places {
		if p.skip != nil {
			fmt.Fprintf(w, "%s: not tried: %v\n\n", p.name, p.skip)
			continue
		}
		for i, landlock := range append(versions, "without boxes") {
			args := []string{"-here", "-json", "-environment", p.name}
			switch {
			case i == len(versions):
				args = append(args, "-isolation", "none")
			case landlock != "":
				args = append(args, "-landlock", landlock)
			}
			if o.Short {
				args = append(args, "-short")
			}
			r := runAt(ctx, &p, args)
			if i == len(versions) {
				r.Landlock = "–"
			} else {
				r.Landlock = cmp.Or(landlock, "kernel's")
			}
			reports = append(reports, r)
			r.Print(w, false)
			fmt.Fprintln(w)
			if full != nil {
				r.Print(full, true)
			}
			if ctx.Err() != nil {
				return 2
			}
		}
	}
	Summary(w, reports)
	code := 0
	for _, r := range reports {
		for _, bad := range r.Failures() {
			fmt.Fprintf(w, "FAIL: %s, Landlock %s: %s\n", r.Environment, r.Landlock, bad)
			code = 1
		}
	}
	return code
}

// runAt runs this program in a place.
func runAt(ctx context.Context, p *place, args []string) *Report {
	ctx, stop := context.WithTimeout(ctx, runTime)
	defer stop()
	r := new(Report)
	cmd := p.start(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, r)
	}
	if err != nil {
		r = &Report{Trouble: []string{fmt.Sprintf("no run: %v: %s", err, strings.TrimSpace(stderr.String()))}}
	}
	r.Environment = p.name
	return r
}

// places are the environments, and what takes away what they need.
func places(ctx context.Context, o *Options) ([]place, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	dir, err := o.folder()
	if err != nil {
		return nil, nil, err
	}
	clear := func() { removeAll(dir) }
	for name, from := range map[string]string{"skep": o.Skep, "skep-intruder": o.Intruder, "skep-attack": self} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
		}
		if err != nil {
			return nil, nil, errors.Join(err, removeAll(dir))
		}
	}
	here := place{name: Here(), start: func(ctx context.Context, args ...string) *exec.Cmd {
		return program(ctx, dir, append(args, "-dir", o.Dir)...)
	}}
	all := []place{here}
	if other, err := another(dir); err == nil {
		all = append(all, other)
	}
	boxes, remove := containers(ctx, dir)
	return append(all, boxes...), func() { remove(); clear() }, nil
}

// program is this program, with copies of the others beside it.
func program(ctx context.Context, dir string, args ...string) *exec.Cmd {
	at := func(name string) string { return filepath.Join(dir, name) }
	return exec.CommandContext(ctx, at("skep-attack"), append(args, "-skep", at("skep"), "-intruder",
		at("skep-intruder"))...)
}
