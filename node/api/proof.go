package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// nonceLife is for how long a proof may be made with a nonce: a node that relays a request could repeat that same
// request for as long.
const nonceLife = 2 * time.Minute

// nonces issues and checks the nonces of proofs for this node. It stores none: a nonce is a time and a MAC by this
// node's key over the time and the job.
type nonces struct {
	key [32]byte
	now func() time.Time // replaced in tests
}

func newNonces() *nonces {
	n := &nonces{now: time.Now}
	rand.Read(n.key[:])
	return n
}

// nonceSize is the size of a nonce's time and MAC in bytes.
const nonceSize = 8 + 16

// issue returns a nonce for requests about a job.
func (n *nonces) issue(id grid.JobID) string { return n.at(id, n.now()) }

func (n *nonces) at(id grid.JobID, t time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
	mac := hmac.New(sha256.New, n.key[:])
	mac.Write(b)
	mac.Write(id.Origin[:])
	mac.Write(id.Nonce[:])
	return hex.EncodeToString(mac.Sum(b)[:nonceSize])
}

// valid reports whether this node issued a nonce for that job within nonceLife.
func (n *nonces) valid(id grid.JobID, nonce string) bool {
	b, err := hex.DecodeString(nonce)
	if err != nil || len(b) != nonceSize {
		return false
	}
	t := time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	age := n.now().Sub(t)
	return age > -time.Second && age <= nonceLife && hmac.Equal([]byte(nonce), []byte(n.at(id, t)))
}

// requestProof is the proof in a request, and the request that it must be made for. It is checked once, so that a
// stream which began in time goes on.
type requestProof struct {
	proof *v1.Proof
	req   v1.Request
	once  sync.Once
	good  bool
}

// proofOf returns the proof in a request, unchecked; nil if there is none.
func proofOf(r *http.Request) *requestProof {
	p, err := v1.ParseProof(r.Header.Get(v1.ProofHeader))
	if err != nil {
		return nil
	}
	return &requestProof{proof: p, req: v1.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Nonce: p.Nonce}}
}

func (h *requestProof) opensJob(n *nonces, id grid.JobID, hash grid.CapabilityHash) bool {
	if !h.proof.IsOf(hash) {
		return false
	}
	h.once.Do(func() {
		h.req.Job = id
		h.good = n.valid(id, h.proof.Nonce) && h.proof.Signs(&h.req)
	})
	return h.good && h.req.Job == id
}
