package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Stdin streams the standard input of the one task of a job that was submitted to this node, which the whole ID names.
// Nothing is read from in before the task runs. It returns when the node wants no more, which may be while a read of in
// goes on. If it ends before in does, or ctx does, the task is stopped.
func (c *Client) Stdin(ctx context.Context, id grid.JobID, in io.Reader) (v1.StdinEnd, error) {
	const of = "/stdin"
	var end v1.StdinEnd
	nonce, err := c.nonceFor(ctx, id, http.MethodPost+of)
	if err != nil {
		return end, err
	}
	var proof *v1.Proof
	path := jobPath(id.String()) + of
	if nonce != "" {
		key, err := c.capability(id)
		if err != nil {
			return end, err
		}
		proof = key.Prove(&v1.Request{Job: id, Method: http.MethodPost, Path: path, Query: url.Values{}.Encode(),
			Nonce: nonce})
	}
	resp, err := c.send(ctx, http.MethodPost, path, nil, pieces{in}, -1, streamKind, proof)
	if err != nil {
		return end, err
	}
	return end, answer(resp, &end)
}

// Sizes of what is sent to the node of a body that is streamed. A piece and what frames it as a chunk of HTTP fit the
// buffer of the connection, so that each is one system call; the node passes a piece on as two messages (package
// runner). The socket takes several pieces, so that who sends is not woken for each.
const (
	pieceSize    = 2 * (64<<10 - 32)
	writeBuffer  = 128 << 10
	socketBuffer = 208 << 10 // the most that Linux grants by default
)

// pieces is a body that net/http sends in pieces of this size, instead of 32 KiB. What comes slowly is sent as it
// comes.
type pieces struct{ io.Reader }

// WriteTo implements [io.WriterTo].
func (p pieces) WriteTo(w io.Writer) (int64, error) {
	b, sent := make([]byte, pieceSize), int64(0)
	for {
		n, err := p.Read(b)
		if n > 0 {
			if _, err := w.Write(b[:n]); err != nil {
				return sent, err
			}
			sent += int64(n)
		}
		if err == io.EOF {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// untilAsked is how long the client waits until the node asks for a body that must not be sent before.
const untilAsked = 10 * 365 * 24 * time.Hour

// streamKind is the media type of a body that the node must ask for before it is sent: what is read of it cannot be put
// back.
const streamKind = "application/octet-stream"
