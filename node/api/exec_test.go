package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// says sends a word to a command beside a task, and returns what came back.
func says(t *testing.T, c *client.Client, id grid.JobID, index uint32, word string) (string, error) {
	t.Helper()
	conn, err := c.Exec(t.Context(), id.String(), index)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(grid.TaskID{Job: id, Index: index}.String())+1+len(word))
	if _, err := io.ReadFull(conn, b); err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

// A command beside a task is taken by the node that the job was submitted to, whoever may read what the task prints.
func TestExecWhereTheJobWasSubmitted(t *testing.T) {
	f, g := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	f.connect(g)
	f.serve()
	g.serve()
	c, _, _ := f.open(Options{})
	other, _, _ := g.open(Options{})
	for _, access := range []string{"members", "owner"} {
		j, err := c.Submit(t.Context(), client.Draw(), &v1.Spec{Command: []string{"sleep"}, Count: 2, Access: access})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := grid.ParseJobID(j.ID)
		want := grid.TaskID{Job: id, Index: 1}.String() + " words"
		if got, err := says(t, c, id, 1, "words"); got != want || err != nil {
			t.Errorf("%s, here: %q, %v: want %q", access, got, err, want)
		}
		if _, err := says(t, other, id, 1, "words"); err == nil {
			t.Errorf("%s, elsewhere: it was run", access)
		}
	}
}

// Why no command can run beside a task is said in one sentence.
func TestExecNeedsATaskThatRuns(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, dir, tcp := f.open(Options{})
	id := submitStreamed(t, c, streamedSpec(""))
	f.end(&grid.Result{Cause: grid.Exited, Exit: 3})
	j, err := c.Submit(t.Context(), client.Draw(),
		&v1.Spec{Command: []string{"sleep"}, Wait: true, Needs: v1.Needs{Labels: map[string][]string{"os": {"plan9"}}}})
	if err != nil {
		t.Fatal(err)
	}
	waits, _ := grid.ParseJobID(j.ID)
	for _, row := range []struct {
		name   string
		job    grid.JobID
		index  uint32
		status int
		text   string
	}{
		{"an ended task", id, 0, http.StatusConflict, "has ended with exit code 3"},
		{"one that waits", waits, 0, http.StatusConflict, "does not run yet"},
		{"no such task", id, 7, http.StatusNotFound, "no task of that index"},
		{"no such job", grid.JobID{Origin: f.self}, 0, http.StatusNotFound, "is not known"},
	} {
		_, err := c.Exec(t.Context(), row.job.String(), row.index)
		if status, text := problemOf(err); status != row.status || !strings.Contains(text, row.text) {
			t.Errorf("%s: %v: want %d, %q", row.name, err, row.status, row.text)
		}
	}
	id = submitStreamed(t, c, streamedSpec(""))
	f.mute = errors.New("it is busy")
	_, err = c.Exec(t.Context(), id.String(), 0)
	if status, text := problemOf(err); status != http.StatusBadGateway || !strings.Contains(text, "alpha") ||
		!strings.Contains(text, "it is busy") {
		t.Errorf("a node that refuses: %v", err)
	}
	token, err := os.ReadFile(filepath.Join(dir, client.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+tcp+"/v1/jobs/"+id.String()+"/exec", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired || resp.Header.Get("Upgrade") != v1.ExecProtocol {
		t.Errorf("without the header: %v %v", resp.Status, resp.Header)
	}
}

// over is a session whose command has printed much and takes no input any more.
type over struct{ io.Reader }

func (over) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (over) Close() error              { return nil }

// A client that reads slowly gets all of what a command printed, though it still sends input when the command is over.
func TestOutputIsWholeWhileInputFlows(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		addr := map[string]string{"unix": filepath.Join(t.TempDir(), "s"), "tcp": "127.0.0.1:0"}[network]
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		const size = 8 << 20
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			c, err := l.Accept()
			if err != nil {
				return
			}
			join(t.Context(), over{io.LimitReader(zeros{}, size)}, c, c)
		}()
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for b := make([]byte, 32<<10); ; {
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}()
		n, b := 0, make([]byte, 1<<20)
		for err == nil {
			var k int
			k, err = io.ReadFull(c, b) // a piece at a time, so that output waits in the sockets
			n += k
		}
		c.Close()
		<-joined
		if n != size {
			t.Errorf("%s: %d of %d bytes arrive: %v", network, n, size, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
