package p2p

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skep/exec/session"
	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/runner"
)

// submitWaiting submits a task that runs until the file gate is there, and returns when it runs.
func (m *member) submitWaiting(t *testing.T, nonce byte) (task grid.TaskID, gate string) {
	t.Helper()
	dir := sharedFolder(t)
	begun, gate := filepath.Join(dir, "begun"), filepath.Join(dir, "gate")
	id := m.job(nonce)
	err := m.Submit(t.Context(), id, rig.Sh("touch "+begun+"; until [ -e "+gate+" ]; do sleep 0.01; done; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the task runs", func() bool {
		_, err := os.Stat(begun)
		return err == nil
	})
	return grid.TaskID{Job: id}, gate
}

// beside runs a command beside a task.
func (m *member) beside(t *testing.T, task grid.TaskID, input string, argv ...string) (session.End, string, string) {
	t.Helper()
	conn, err := m.Exec(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var out, errs bytes.Buffer
	end, err := session.Attach(conn, &session.Request{Argv: argv}, session.Streams{In: strings.NewReader(input), Out: &out,
		Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	return end, out.String(), errs.String()
}

func TestCommandRunsBesideATask(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task, gate := a.submitWaiting(t, nonce)
		end, out, errs := a.beside(t, task, "input\n", "sh", "-c", "cat; echo $SKEP_TASK >&2; exit 5")
		if end != (session.End{Code: 5}) || out != "input\n" || errs != task.String()+"\n" {
			t.Errorf("%+v, %q, %q", end, out, errs)
		}
		if end, _, _ := a.beside(t, task, "", "missing"); end.Code != grid.ExitNotFound || end.Why == "" {
			t.Errorf("a program that is not there: %+v", end)
		}
		if err := os.WriteFile(gate, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := a.result(task); r.Exit != 3 {
			t.Errorf("the task: %+v", r)
		}
		if _, err := a.Exec(t.Context(), task); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("after its end: %v", err)
		}
	})
}

// A command ends with its client.
func TestCommandEndsWithItsClient(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task, gate := a.submitWaiting(t, nonce)
		conn, err := a.Exec(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		var out writerFunc = func(b []byte) (int, error) { return 0, errors.New("begun") }
		_, err = session.Attach(conn, &session.Request{Argv: []string{"sh", "-c", "echo $$ >pid; echo begun; sleep 1000"}},
			session.Streams{Out: out})
		if err == nil || !strings.Contains(err.Error(), "begun") {
			t.Fatal(err)
		}
		conn.Close()
		const gone = "[ -e /proc/$(cat pid) ] && exit 1; exit 0"
		rig.Await(t, "it is gone", func() bool {
			end, _, _ := a.beside(t, task, "", "sh", "-c", gone)
			return end.Code == 0
		})
		os.WriteFile(gate, nil, 0o644)
		if r := a.result(task); r.Exit != 3 {
			t.Errorf("the task: %+v", r)
		}
	})
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A task takes a bounded number of commands, and another one when one has ended.
func TestCommandsBesideATaskAreBounded(t *testing.T) {
	everywhere(t, func(t *testing.T, a *member, nonce byte) {
		task, gate := a.submitWaiting(t, nonce)
		var all []io.Closer
		for i := range runner.ExecsPerTask {
			conn, err := a.Exec(t.Context(), task)
			if err != nil {
				t.Fatalf("command %d: %v", i, err)
			}
			defer conn.Close()
			all = append(all, conn)
		}
		_, err := a.Exec(t.Context(), task)
		if !errors.Is(err, runner.ErrExecBusy) || !strings.Contains(err.Error(), "at most 8 of a task") {
			t.Errorf("one more: %v", err)
		}
		all[0].Close()
		rig.Await(t, "there is room again", func() bool {
			conn, err := a.Exec(t.Context(), task)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		os.WriteFile(gate, nil, 0o644)
		a.result(task)
	})
}

// Only the origin of a job runs commands beside its tasks.
func TestCommandsOfOthersAreRefused(t *testing.T) {
	a, b := openPair(t)
	task, gate := a.submitWaiting(t, 1)
	v, err := a.taskView(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	st, err := newRogue(t, b).NewStream(t.Context(), identity.Peer(b.self), runner.ExecProtocol)
	if err != nil {
		t.Fatal(err)
	}
	st.Write(binaryAttempt(v.ID))
	if got, err := io.ReadAll(st); err == nil || len(got) > 0 {
		t.Errorf("a member that did not submit the job was answered % x, %v: want the stream reset", got, err)
	}
	os.WriteFile(gate, nil, 0o644)
	a.result(task)
}
