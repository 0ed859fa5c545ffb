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
	v1 "skep/node/api/v1"
	"skep/node/p2p/blob"
)

// MaxBlob bounds one uploaded blob in bytes. The node's cache size bounds all blobs.
const MaxBlob = 64 * grid.GiB

// holdTime is how long a blob that was uploaded, or checked by HEAD before an upload, is held before a job names
// it: the upload of a job's other inputs may take long, and must not evict it.
const holdTime = 10 * time.Minute

// getBlob serves a blob of this node; a HEAD request, which asks whether it is stored, also holds it.
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

// readAhead is how much of a blob is read before the answer begins: a blob up to that size cannot break off.
const readAhead = 64 << 10

// openBlob opens a blob of this node. A damaged one is not found.
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

// serve streams a blob's content. If it turns out to be damaged the stream breaks off before its end; asked again,
// the node fetches it anew.
func (b *sentBlob) serve(w http.ResponseWriter, r *http.Request) {
	defer b.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(int64(b.size), 10))
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, b.Reader); err != nil {
		panic(http.ErrAbortHandler) // the length was promised: the client must see that it broke off
	}
}

// putBlob stores a blob whose content matches its hash and length.
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
		problem(w, http.StatusRequestEntityTooLarge, "blob of "+strconv.FormatInt(r.ContentLength,
			10)+" bytes: want at most "+strconv.FormatInt(int64(MaxBlob), 10))
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

// jobBlob serves a blob among a job's inputs or results. Another member may request those of a job it knows, not
// any blob.
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
			problem(w, http.StatusNotFound,
				"blob "+id.String()+": is not kept at node "+s.self.Short()+", and did not come: "+err.Error())
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

// blobOf finds a blob among a job's inputs and results, and the nodes that should have it; a zero file if it is
// none of them. It searches the stated task first: a client that gets the files of 100,000 tasks must not cause a
// search of all of them for each.
func (s *Server) blobOf(ctx context.Context, job grid.JobID, id grid.BlobID, task uint32) (f grid.File,
	holders []grid.NodeID, err error) {
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
