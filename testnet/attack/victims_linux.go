package attack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// sufferer is a process with the secret in its memory: a task, or a process of the node's user that is none. It goes on
// for as long as the connection to it stands.
type sufferer struct {
	mark    string
	pid     int
	address uint64
	conn    net.Conn
	out     chan string // what it printed, when it has ended
}

// victimTime bounds its start and its end.
const victimTime = 30 * time.Second

// startVictims starts the task that is attacked, and the process beside the node.
func (s *scene) startVictims(ctx context.Context) (err error) {
	if s.bystander, err = s.suffer("bystander", func(mark, address string) *exec.Cmd {
		cmd := exec.Command(s.o.Intruder, "bystander", mark, address)
		cmd.Env = s.node.env("GODEBUG=asyncpreemptoff=1", "BYSTANDER="+s.secret)
		return cmd
	}); err != nil {
		return err
	}
	s.sibling, err = s.suffer("sibling", func(mark, address string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, s.node.skep, "--data-dir", s.node.data, "run", "--cpu", "0.1", "--env",
			"GODEBUG=asyncpreemptoff=1", "--",
			"./intruder", "sibling", mark, address)
		cmd.Dir, cmd.Env = s.base, s.node.env()
		return cmd
	})
	return err
}

// suffer starts one.
func (s *scene) suffer(role string, command func(mark, address string) *exec.Cmd) (*sufferer, error) {
	v := &sufferer{mark: role + "-" + s.world.Nonce, out: make(chan string, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	cmd := command(v.mark, l.Addr().String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := cmd.Wait()
		v.out <- strings.TrimSpace(out.String() + fmt.Sprint(errorText(err)))
		l.Close() // should it not have come so far
	}()
	fail := func(err error) (*sufferer, error) {
		cmd.Process.Kill()
		return nil, fmt.Errorf("start the %s: %w: %s\n%s", role, err, <-v.out, s.node.log.String())
	}
	l.(*net.TCPListener).SetDeadline(time.Now().Add(victimTime))
	if v.conn, err = l.Accept(); err != nil {
		return fail(err)
	}
	v.conn.SetDeadline(time.Now().Add(victimTime))
	r := bufio.NewReader(v.conn)
	if _, err := fmt.Fscan(r, &v.pid, &v.address); err != nil {
		return fail(err)
	}
	if _, err := io.WriteString(v.conn, s.secret); err != nil {
		return fail(err)
	}
	if role == "sibling" {
		if _, err := r.ReadString('\n'); err != nil { // of the first line
			return fail(err)
		}
		if line, err := r.ReadString('\n'); err != nil || line != "ready\n" {
			return fail(errors.Join(err, fmt.Errorf("it said %q", line)))
		}
		v.pid = 0 // it told the number that it has in its box
		for _, pid := range processesWith(v.mark) {
			if strings.HasPrefix(commandLine(pid), "./intruder") {
				v.pid = pid
			}
		}
	}
	v.conn.SetDeadline(time.Time{})
	return v, nil
}

// release lets it end, and returns what it printed and how it ended.
func (v *sufferer) release() string {
	if v.conn != nil {
		v.conn.Close()
		v.conn = nil
		select {
		case out := <-v.out:
			v.out <- out
			return out
		case <-time.After(victimTime):
			return "it does not end"
		}
	}
	return ""
}

// wellEnded is what it prints if nobody has touched it.
const wellEnded = "ended well, signals: 0"

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}
