package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// execPath is the rest of the path of commands beside a job's tasks.
const execPath = "/exec"

// execElsewhere is why a command beside a task is not relayed: what it does is nothing that its caller has signed, and
// a member must not run programs with what the operator of another node grants the submitter.
const execElsewhere = "a command beside a task is taken by the node that the job was submitted to alone: ask there"

// exec runs a command beside a task: it joins the connection of the request with one to the node that runs the task.
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	id, err := grid.ParseJobID(r.PathValue("id"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	index, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("task"), "0"), 10, 32)
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, "task "+quote(r.URL.Query().Get("task"))+": want the index of a task")
		return
	}
	if r.Header.Get("Upgrade") != v1.ExecProtocol {
		w.Header().Set("Upgrade", v1.ExecProtocol)
		problem(w, http.StatusUpgradeRequired, "want the headers Connection: Upgrade and Upgrade: "+v1.ExecProtocol)
		return
	}
	if id.Origin != s.self { // it owns the job since that node is gone
		problem(w, http.StatusConflict, execElsewhere)
		return
	}
	ctx, cancel := s.untilStop(r.Context())
	defer cancel()
	if err := s.mayRunAs(ctx, id); err != nil {
		fail(w, err)
		return
	}
	conn, err := s.openExec(ctx, grid.TaskID{Job: id, Index: uint32(index)})
	if err != nil {
		fail(w, err)
		return
	}
	defer conn.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		problem(w, http.StatusInternalServerError, "take over the connection: "+err.Error())
		return
	}
	defer client.Close()
	const answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + v1.ExecProtocol + "\r\n\r\n"
	if _, err := io.WriteString(client, answer); err != nil {
		return
	}
	join(ctx, conn, client, buffered.Reader)
}

// mayRunAs returns why a caller may not run commands beside the tasks of a job: those that work in folders of their
// node may run as an account that is granted to the submitter.
func (s *Server) mayRunAs(ctx context.Context, id grid.JobID) error {
	job, err := s.job(ctx, id, true)
	if err != nil || job.Spec == nil || job.Spec.Workdir == "" && job.Spec.Home == "" {
		return err
	}
	if c := s.callerOf(ctx); !c.named || job.Submitter == nil || job.Submitter.User != c.user {
		return huma.Error403Forbidden("the job's tasks work in folders of their node, which its operator grants by the " +
			"submitter: only that user may run commands beside them")
	}
	return nil
}

// openExec opens the session with the node that runs a task.
func (s *Server) openExec(ctx context.Context, t grid.TaskID) (io.ReadWriteCloser, error) {
	v, err := s.task(ctx, t)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("task %d of job %s: ", t.Index, t.Job.Short())
	switch v.State {
	case grid.Placed:
	case grid.Ended:
		text := name + "has ended"
		if v.Result != nil {
			text += fmt.Sprintf(" with exit code %d", v.Result.Exit)
		}
		return nil, huma.Error409Conflict(text + ": a command runs only beside a task that runs")
	default:
		return nil, huma.Error409Conflict(name + "does not run yet: skep job explain says why")
	}
	conn, err := s.b.Exec(ctx, t)
	if err == nil {
		return conn, nil
	}
	text := name + err.Error()
	if asked, ok := errors.AsType[*grid.NodeError](err); ok {
		text = fmt.Sprintf("%snode %s: %v", name, s.displayName(ctx, asked.Node), asked.Err)
	}
	return nil, huma.Error502BadGateway(text)
}

// lingerTime is how long a client is waited for that has been sent everything: until it hangs up. A connection that is
// closed while input still comes loses what the client has not read yet.
const lingerTime = 30 * time.Second

// join copies between two connections until the client hangs up, or ctx ends, and closes both. What the task prints
// goes to its end, also where the task, or the node that runs it, takes no more input.
func join(ctx context.Context, task io.ReadWriteCloser, client io.WriteCloser, from io.Reader) {
	closeBoth := sync.OnceFunc(func() {
		task.Close()
		client.Close()
	})
	stop := context.AfterFunc(ctx, closeBoth)
	defer stop()
	hungUp := make(chan struct{})
	var copies sync.WaitGroup
	copies.Go(func() {
		defer closeBoth()
		defer close(hungUp)
		io.Copy(&drain{to: task}, from)
	})
	copies.Go(func() {
		defer closeBoth()
		if _, err := io.Copy(client, task); err != nil || closeWrite(client) != nil {
			return
		}
		task.Close()
		late := time.NewTimer(lingerTime)
		defer late.Stop()
		select {
		case <-hungUp:
		case <-late.C:
		}
	})
	copies.Wait()
}

// closeWrite ends what a connection sends, and lets it receive on.
func closeWrite(c io.Closer) error {
	half, can := c.(interface{ CloseWrite() error })
	if !can {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// drain writes until that fails, and then drops what comes.
type drain struct {
	to     io.Writer
	closed bool
}

func (d *drain) Write(b []byte) (int, error) {
	if !d.closed {
		_, err := d.to.Write(b)
		d.closed = err != nil
	}
	return len(b), nil
}
