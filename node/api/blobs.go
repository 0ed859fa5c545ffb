package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/api/v1"
	"skep/node/p2p/blob"
)

// MaxBlob bounds one blob that is handed to the node, in bytes. What the node keeps of all of them is
// bounded by its own setting.
const MaxBlob = 64 * grid.GiB

// holdTime is how long a blob stays that was handed over, or asked for in order to hand it over, before a job names it: a job's other
// inputs may be long on their way, and must not take its place.
const holdTime = 10 * time.Minute

// getBlob serves a blob that this node keeps; also HEAD, to ask whether it is here: then it stays for a while.
func (s *Server) getBlob(w http.ResponseWriter, r *http.Request) {
	id, err := grid.ParseBlobID(r.PathValue("blob"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if r.Method == http.MethodHead {
		s.b.Blobs().Hold(id, holdTime)
	}
	b, err := s.openBlob(r.Context(), id)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		problem(w, http.StatusNotFound, "blob "+id.String()+": is not kept at node "+s.self.Short())
	case err != nil:
		problem(w, http.StatusInternalServerError, err.Error())
	default:
		b.serve(w, r)
	}
}

// sentBlob is a blob that is about to be sent.
type sentBlob struct {
	*bufio.Reader
	io.Closer
	size grid.Bytes
}

// readAhead is how much of a blob is read before anything is said of it: one of that size cannot break off.
const readAhead = 64 << 10

// openBlob opens a blob of this node. One that is damaged is not found.
func (s *Server) openBlob(ctx context.Context, id grid.BlobID) (*sentBlob, error) {
	f, size, err := s.b.Blobs().Open(ctx, id)
	if err != nil {
		return nil, err
	}
	b := &sentBlob{bufio.NewReaderSize(f, readAhead), f, size}
	if _, err := b.Peek(int(min(size, readAhead))); err != nil {
		b.Close()
		if errors.Is(err, blob.ErrContent) {
			err = fmt.Errorf("%w: %w", blob.ErrNotFound, err)
		}
		return nil, err
	}
	return b, nil
}

// serve streams a blob's content. If it turns out to be damaged its end does not come: asked again, the node has it
// brought.
func (b *sentBlob) serve(w http.ResponseWriter, r *http.Request) {
	defer b.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(int64(b.size), 10))
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, b.Reader); err != nil {
		panic(http.ErrAbortHandler) // the length was promised: let it be seen that it broke off
	}
}

// putBlob takes a blob that is what its hash and length say.
func (s *Server) putBlob(w http.ResponseWriter, r *http.Request) {
	id, err := grid.ParseBlobID(r.PathValue("blob"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	switch {
	case r.ContentLength < 0:
		problem(w, http.StatusLengthRequired, "blob "+id.String()+": want its length in the header")
		return
	case r.ContentLength > int64(MaxBlob):
		problem(w, http.StatusRequestEntityTooLarge, "blob of "+strconv.FormatInt(r.ContentLength, 10)+" bytes: want at most "+strconv.FormatInt(int64(MaxBlob), 10))
		return
	}
	s.b.Blobs().Pin(id)
	defer s.b.Blobs().Unpin(id)
	if err := s.b.Blobs().PutExpected(r.Context(), id, grid.Bytes(r.ContentLength), r.Body, true); err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	s.b.Blobs().Hold(id, holdTime)
	writeJSON(w, v1.Blob{Blob: id.String(), Size: r.ContentLength})
}

// jobBlob serves a blob that is among a job's inputs or results. Another member may ask for those of a job it knows, not
// for any blob.
func (s *Server) jobBlob(w http.ResponseWriter, r *http.Request) {
	job, err := grid.ParseJobID(r.PathValue("id"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	id, err := grid.ParseBlobID(r.PathValue("blob"))
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	task, _ := strconv.ParseUint(r.URL.Query().Get("task"), 10, 32) // without it the first one is as good a guess as any
	f, holders, err := s.blobOf(r.Context(), job, id, uint32(task))
	if err != nil {
		fail(w, asProblem(err))
		return
	}
	if f.Blob.IsZero() {
		problem(w, http.StatusNotFound, "blob "+id.String()+": is not among the inputs or results of job "+job.Short())
		return
	}
	b, err := s.openBlob(r.Context(), id)
	if errors.Is(err, blob.ErrNotFound) {
		if err := s.b.FetchBlob(r.Context(), &f, holders); err != nil {
			problem(w, http.StatusNotFound, "blob "+id.String()+": is not kept at node "+s.self.Short()+", and did not come: "+err.Error())
			return
		}
		b, err = s.openBlob(r.Context(), id)
	}
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	b.serve(w, r)
}

// blobOf finds a blob among a job's inputs and results, and the nodes that should have it; a zero file if it is none of them. It looks
// first at the task that the caller says: who gets the files of 100,000 tasks must not have each looked for among all of them.
func (s *Server) blobOf(ctx context.Context, job grid.JobID, id grid.BlobID, task uint32) (f grid.File, holders []grid.NodeID, err error) {
	err = s.b.Read(ctx, func(v *node.Node, _ gridTime) {
		j, ok := v.Job(job)
		if !ok {
			return
		}
		holders = j.Members
		if f = find(j.Spec.Inputs, id); !f.Blob.IsZero() {
			return
		}
		var files []grid.File
		left := func(t *node.TaskView) bool {
			if t.Result == nil {
				return false
			}
			files = t.Result.Blobs(files[:0])
			if f = find(files, id); f.Blob.IsZero() {
				return false
			}
			holders = append([]grid.NodeID{t.Worker}, j.Members...)
			return true
		}
		if t, ok := v.Task(grid.TaskID{Job: job, Index: task}); ok && left(&t) {
			return
		}
		for _, t := range v.Tasks(job, nil) {
			if left(&t) {
				return
			}
		}
	})
	return f, holders, err
}

func find(files []grid.File, id grid.BlobID) grid.File {
	for i := range files {
		if files[i].Blob == id {
			return files[i]
		}
	}
	return grid.File{}
}
