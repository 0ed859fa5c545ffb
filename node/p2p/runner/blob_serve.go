package runner

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/wire"
)

// ServeBlob answers a request for a blob.
func (r *Runner) ServeBlob(_ grid.NodeID, st network.Stream, request []byte, w io.Writer) {
	st.CloseRead() // nothing more is read from the peer
	var answer [blobAnswer]byte
	b, size, err := r.cfg.Blobs.Open(r.ctx, grid.BlobID(request[:32]))
	offset := binary.BigEndian.Uint64(request[32:])
	st.SetWriteDeadline(time.Now().Add(requestDeadline)) // Open may have had to hash it first
	if err != nil {
		answer[0] = wire.StatusNone
		st.Write(answer[:])
		return
	}
	defer b.Close()
	binary.BigEndian.PutUint64(answer[1:], uint64(size))
	if _, err := st.Write(answer[:]); err != nil || offset > uint64(size) || b.Resume(grid.Bytes(offset)) != nil {
		st.Reset()
		return
	}
	if _, err := io.Copy(w, b); err != nil { // a damaged blob ends early
		st.Reset()
	}
}
