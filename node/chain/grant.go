package chain

import (
	"encoding/binary"

	"skep/grid"
)

// maxVotes bounds the votes in a mandate, by the members of a register.
const maxVotes = grid.MaxMembers

// MaxMandate and MaxProof bound the bytes of a mandate, and of what is signed of an assignment or an end.
const (
	MaxMandate = 1 + maxVotes*(1+SignatureSize)
	MaxProof   = 1 + grantHead + MaxMandate + 2*SignatureSize
	_          = uint(grid.MaxProof - MaxProof)
	_          = uint(grid.MaxMandate - MaxMandate)
)

// CastVote is a member's vote for the owner of an epoch.
type CastVote struct {
	Place     uint8 // of the member
	Signature string
}

// Mandate returns the votes of a majority in a form to keep and to send, in the order of the members. In the first
// epoch, which is the origin's, there is none: "".
func Mandate(votes []CastVote) string {
	b := []byte{byte(len(votes))}
	for _, v := range votes {
		b = append(append(b, v.Place), v.Signature...)
	}
	return string(b)
}

// cutMandate takes a mandate off the front of b; ok is false where there is none.
func cutMandate(b string) (mandate, rest string, ok bool) {
	if b == "" || b[0] > maxVotes || len(b) < 1+int(b[0])*(1+SignatureSize) {
		return "", "", false
	}
	n := 1 + int(b[0])*(1+SignatureSize)
	if b[0] == 0 {
		return "", b[1:], true
	}
	return b[:n], b[n:], true
}

// votesOf lists the votes in a mandate that cutMandate has taken.
func votesOf(mandate string) (votes []CastVote) {
	for b := mandate[min(1, len(mandate)):]; b != ""; b = b[1+SignatureSize:] {
		votes = append(votes, CastVote{b[0], b[1 : 1+SignatureSize]})
	}
	return votes
}

// grant is who owns an epoch, and by which votes.
type grant struct {
	owner   grid.NodeID
	epoch   uint32
	list    uint8  // number of the changes of members before
	mandate string // "" in the first epoch
}

// grantHead is the size of a grant before its mandate.
const grantHead = len(grid.NodeID{}) + 4 + 1

func (g *grant) append(b []byte) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, g.owner[:]...), g.epoch), g.list)
	if g.mandate == "" {
		return append(b, 0)
	}
	return append(b, g.mandate...)
}

// cutGrant takes a grant off the front of b.
func cutGrant(b string) (g grant, rest string, ok bool) {
	if len(b) <= grantHead {
		return g, "", false
	}
	n := copy(g.owner[:], b)
	g.epoch, g.list = binary.BigEndian.Uint32([]byte(b[n:n+4])), b[n+4]
	g.mandate, rest, ok = cutMandate(b[grantHead:])
	return g, rest, ok
}

// Forms of a proof.
const (
	byWorker  byte = iota + 1 // assignment and worker
	byOwner                   // the owner ended the task
	byOwnerOf                 // the owner ended what was left of the job
)

// proof is the signatures of an end.
type proof struct {
	form byte
	grant
	assigned string // the owner's signature; "" = the owner is the worker, whose signature covers the assignment
	end      string // of the worker, or of the owner
}

func (p *proof) encode() string {
	b := p.grant.append([]byte{p.form})
	return string(append(append(b, p.assigned...), p.end...))
}

// decodeProof takes what encode has written, and nothing else.
func decodeProof(text string) (p proof, ok bool) {
	if len(text) < 1 || len(text) > MaxProof {
		return p, false
	}
	p.form = text[0]
	var rest string
	if p.grant, rest, ok = cutGrant(text[1:]); !ok {
		return p, false
	}
	switch p.form {
	case byWorker:
		if len(rest) == 2*SignatureSize {
			p.assigned, rest = rest[:SignatureSize], rest[SignatureSize:]
		}
	case byOwner, byOwnerOf:
	default:
		return p, false
	}
	p.end = rest
	return p, len(rest) == SignatureSize
}
