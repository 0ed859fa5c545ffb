package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/grid"
	"skep/internal/digests"
)

// Bounds of the commands of a page.
const (
	commandTime = 3 * time.Minute  // for one command, or for a node to start
	settleTime  = 20 * time.Second // until a listing is as shown: news take their time
	pageNode    = "anthill"        // the machine on which a page's commands are run, unless it says another
)

// Every page is a session: its commands are run in their order, in one folder, and what they print is compared with
// what is shown. A skep up goes on until the end of its page.
func TestPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs nodes")
	}
	for _, p := range readPages(t) {
		t.Run(strings.TrimSuffix(filepath.Base(p.name), ".md"), func(t *testing.T) {
			t.Parallel()
			newReader(t).follow(p)
		})
	}
}

// reader runs the commands of one page, as somebody does who reads it.
type reader struct {
	t     *testing.T
	dir   string
	nodes []*runningNode
	code  int // of the command before
}

// runningNode is a skep up of a page.
type runningNode struct {
	cmd   *exec.Cmd
	out   spool
	err   spool
	ended chan struct{}
}

func newReader(t *testing.T) *reader {
	r := &reader{t: t, dir: t.TempDir()}
	passable(t, r.dir)
	if err := os.CopyFS(r.dir, os.DirFS("testdata/docs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.dir, "simulate"), 0o755); err != nil { // whatever the umask
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	return r
}

func (r *reader) follow(p *page) {
	for _, b := range p.blocks {
		if name := b.file(); b.language == "yaml" && name != "" {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(b.text), 0o644); err != nil {
				r.t.Fatal(err)
			}
		}
		if !b.session() || b.notRun != "" || b.runBy != "" {
			continue
		}
		if b.needs != "" {
			if _, err := exec.LookPath(b.needs); err != nil {
				r.t.Logf("%s:%d: not run: %v", p.name, b.line, err)
				continue
			}
		}
		all := b.commands()
		for i, c := range all {
			asked := i+1 < len(all) && all[i+1].text == "echo $?"
			r.run(p, b, c, asked)
		}
	}
}

// startsNode recognises a skep up, alone or at the end of a pipe.
var startsNode = regexp.MustCompile(`(?:^|\| )skep (?:--data-dir \S+ )?up\b`)

// listing recognises commands that may be asked again until their answer is as shown.
var listing = regexp.MustCompile(`^skep (?:node|job|testnet) (?:list|describe|explain|status)\b`)

// waited recognises the line of progress that is written to a file every half minute: only a slow machine sees it.
var waited = regexp.MustCompile(`(?m)^skep: \d+ %, .*\n`)

// run runs a command. Its exit code must be 0, unless the page asks for it next.
func (r *reader) run(p *page, b *block, c command, asked bool) {
	r.t.Helper()
	var want *regexp.Regexp
	if c.shown != "" {
		here := strings.HasSuffix(digests.Platform(), " "+strings.TrimPrefix(b.numbers, "of "))
		want = pattern(c.shown, b.numbers != "" && !here)
	}
	if startsNode.MatchString(c.text) {
		r.start(p, b, c, want)
		return
	}
	for end := time.Now().Add(settleTime); ; time.Sleep(50 * time.Millisecond) {
		out, code := r.shell(b, c.text)
		out = waited.ReplaceAllString(out, "")
		if code != 0 && !asked {
			r.t.Fatalf("%s:%d: $ %s\nexit code %d\n%s", p.name, c.line, c.text, code, out)
		}
		if want == nil || want.MatchString(out) {
			r.code = code
			return
		}
		if !listing.MatchString(c.text) || time.Now().After(end) {
			r.t.Fatalf("%s:%d: $ %s\nprints\n%swant\n%s", p.name, c.line, c.text, out, c.shown)
		}
	}
}

// shell runs a command to its end and returns what it prints, as on a terminal, and its exit code.
func (r *reader) shell(b *block, text string) (string, int) {
	r.t.Helper()
	cmd := r.command(b, "(exit "+strconv.Itoa(r.code)+")\n"+text)
	out, err := os.CreateTemp(r.dir, ".out-") // not a pipe: what a command leaves behind may keep it
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	defer os.Remove(out.Name())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	limit := time.AfterFunc(commandTime, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	limit.Stop()
	printed, rerr := os.ReadFile(out.Name())
	if rerr != nil {
		r.t.Fatal(rerr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return string(progressLine.ReplaceAll(printed, nil)), cmd.ProcessState.ExitCode()
}

// progressLine recognises what a command says of its progress now and then, on a machine on which it takes long.
var progressLine = regexp.MustCompile(`(?m)^skep: .*[0-9][smhd] left(, .*)?\n`)

// command returns a shell with a command on a block's machine. Nodes listen on loopback, at ports that are free.
func (r *reader) command(b *block, text string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = r.dir
	name := pageNode
	if b.machine != "" {
		name = b.machine
	}
	home := filepath.Join(r.dir, name)
	mode := os.FileMode(0o700)
	if isolation() == grid.IsolationNone && os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(home, mode); err != nil {
		r.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+home, "SKEP_NAME="+name,
		"SKEP_LISTEN=/ip4/127.0.0.1/tcp/0", "SKEP_MDNS=false")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start starts a node and waits until it is ready, and has printed what is shown.
func (r *reader) start(p *page, b *block, c command, want *regexp.Regexp) {
	r.t.Helper()
	n := &runningNode{cmd: r.command(b, c.text), ended: make(chan struct{})}
	n.cmd.Stdout, n.cmd.Stderr = &n.out, &n.err
	if err := n.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { _ = n.cmd.Wait(); close(n.ended) }()
	r.nodes = append(r.nodes, n)
	for end := time.Now().Add(commandTime); ; time.Sleep(20 * time.Millisecond) {
		out := n.out.String()
		if want == nil && strings.Contains(out, "READY ") || want != nil && want.MatchString(out) {
			return
		}
		select {
		case <-n.ended:
			r.t.Fatalf("%s:%d: $ %s\nended: %s", p.name, c.line, c.text, n.err.String())
		default:
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s:%d: $ %s\nprints\n%swant\n%s\n%s", p.name, c.line, c.text, out, c.shown, n.err.String())
		}
	}
}

// stop ends the page's nodes and testnets.
func (r *reader) stop() {
	for _, n := range r.nodes {
		_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGTERM)
	}
	for _, n := range r.nodes {
		select {
		case <-n.ended:
		case <-time.After(15 * time.Second):
			_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL)
			r.t.Errorf("a node does not end:\n%s", n.err.String())
		}
	}
	removeTestnets(filepath.Join(r.dir, pageNode))
}
