package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	v1 "skep/node/api/v1"
)

// Exec opens a session of package exec/session to run a command beside a task, which ends when the connection is
// closed. The node that the job was submitted to takes it.
func (c *Client) Exec(ctx context.Context, ref string, task uint32) (io.ReadWriteCloser, error) {
	q := url.Values{"task": {strconv.FormatUint(uint64(task), 10)}}
	resp, err := c.askKind(ctx, http.MethodPost, ref, "/exec", q, v1.ExecProtocol)
	if err != nil {
		return nil, err
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body.Close()
		return nil, errors.New("the node did not open a session for the command: it may be of an older version")
	}
	return conn, nil
}
