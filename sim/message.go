package sim

import (
	"math/bits"

	"skep/grid"
	"skep/sim/codec"
)

// body is a message in flight, named by an index that its event holds; its memory is reused. Of a digest, the kind of
// most messages, only the entries are kept; other messages are kept whole.
type body struct {
	digest  []grid.AdEntry // entries of a digest, from the pool
	message int32          // of another message: its index in messages, from 1
	from    int32
	conn    int32
	gen     uint32
	next    int32 // in the free list
}

// bodyPool holds all messages in flight, in pages that never move, named from 1.
type bodyPool struct {
	pages  []*[bodyPage]body
	unused int32

	messages     []*grid.Message
	idleMessages []int32
	idleDigests  [bits.UintSize][][]grid.AdEntry // free memory of digests, by the power of two of its length
	msg          grid.Message                    // the message that a digest is delivered in
}

const bodyPage = 64

func (p *bodyPool) at(i int32) *body { return &p.pages[i/bodyPage][i%bodyPage] }

// take stores a copy of m and returns its index.
func (p *bodyPool) take(m *grid.Message) int32 {
	if p.unused == 0 {
		page := new([bodyPage]body)
		p.pages = append(p.pages, page)
		base := int32(len(p.pages)-1) * bodyPage
		for i := int32(bodyPage) - 1; i >= 0; i-- {
			if base+i != 0 { // 0 names no body
				page[i].next, p.unused = p.unused, base+i
			}
		}
	}
	i := p.unused
	b := p.at(i)
	p.unused = b.next
	if m.Kind == grid.KindDigest {
		b.digest = append(p.entries(len(m.Digest)), m.Digest...)
		return i
	}
	if len(p.idleMessages) == 0 {
		p.messages = append(p.messages, new(grid.Message))
		p.idleMessages = append(p.idleMessages, int32(len(p.messages)))
	}
	n := len(p.idleMessages) - 1
	b.message = p.idleMessages[n]
	p.idleMessages = p.idleMessages[:n]
	copyMessage(p.messages[b.message-1], m)
	return i
}

// entries returns empty memory for n entries.
func (p *bodyPool) entries(n int) []grid.AdEntry {
	class := bits.Len(uint(max(n, 1) - 1))
	idle := p.idleDigests[class]
	if len(idle) == 0 {
		return make([]grid.AdEntry, 0, 1<<class)
	}
	d := idle[len(idle)-1]
	p.idleDigests[class] = idle[:len(idle)-1]
	return d
}

// message returns a stored message, valid until it is freed or another one is requested.
func (p *bodyPool) message(i int32) *grid.Message {
	b := p.at(i)
	if b.message != 0 {
		return p.messages[b.message-1]
	}
	p.msg.Kind, p.msg.Digest = grid.KindDigest, b.digest
	return &p.msg
}

// free returns a body to the pool and drops its references to shared ads.
func (p *bodyPool) free(i int32) {
	b := p.at(i)
	if b.message != 0 {
		p.messages[b.message-1].Reset(0)
		p.idleMessages = append(p.idleMessages, b.message)
	} else {
		for k := range b.digest { // a call of clear costs more than these few stores
			b.digest[k].Ad = nil
		}
		class := bits.Len(uint(cap(b.digest) - 1))
		p.idleDigests[class] = append(p.idleDigests[class], b.digest[:0])
	}
	*b = body{next: p.unused}
	p.unused = i
}

// openCodec has messages be carried as bytes if they are to be.
func (w *World) openCodec() {
	if w.cfg.Network.Bytes {
		w.codec = new(codec.Codec)
	}
}

// carry returns a message as its receiver reads it; nil = no peer would read it.
func (w *World) carry(i int32, m *grid.Message) *grid.Message {
	if w.codec == nil || w.hosts[i].hostile != 0 {
		return m
	}
	read, err := w.codec.Message(m)
	if err != nil {
		w.failf(i, "%v", err)
		return nil
	}
	return read
}

// Footprint is roughly the heap of a node in a world under load, in bytes, garbage included.
const Footprint = 64 << 10

// Parts of a message's size, in bytes.
const (
	sizeFrame   = 8   // tag, length and kind
	sizeAd      = 256 // identity, signature and numbers of an ad
	sizeID      = 58  // of an attempt
	sizeNumbers = 48  // of a poll or an answer
	sizeSpec    = 64  // numbers and needs of a job
	sizeResult  = 96
	sizeFind    = 96
	sizeNode    = 34
	sizeOption  = 24 // of a job, in a poll, an answer or an offer
)

// MessageSize estimates the size of a message on the wire in bytes: a frame of 8; for each ad 256 and its texts, and
// 24 and the name for each rate; 58 for the identity of an attempt; 48 for a poll or an answer, with its class, 17
// and the name for each rate, and 24 for each option of a job; for an offer 64, the command and its files, 48 each;
// 96 for a result or a search, and 34 for each node that a search has visited.
func MessageSize(m *grid.Message) int {
	n := sizeFrame + sizeID*len(m.Attempts)
	for i := range m.Digest {
		if ad := m.Digest[i].Ad; ad != nil {
			n += adSize(ad)
		}
	}
	switch m.Kind {
	case grid.KindPoll:
		n += sizeNumbers + len(m.Poll.Class) + sizeOption*len(m.Poll.Options) + ratesSize(m.Poll.Rates, 17)
	case grid.KindState:
		n += sizeNumbers + sizeOption*len(m.State.Options) + ratesSize(m.State.Rates, 17)
	case grid.KindOffer:
		n += sizeID + sizeSpec + len(m.Offer.Class)
		if s := m.Offer.Spec; s != nil {
			for _, word := range s.Command {
				n += len(word) + 2
			}
			n += 48*len(s.Inputs) + sizeOption*len(s.Needs.Options)
		}
	case grid.KindReserve, grid.KindReserveAck:
		n += sizeID + sizeNumbers
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		n += sizeNumbers + 48*len(m.Checkpoint.Files)
	case grid.KindResult:
		n += sizeResult
	case grid.KindFind, grid.KindHit, grid.KindMiss, grid.KindCall:
		n += sizeFind + sizeNode*len(m.Find.Visited)
	}
	return n + len(m.Refusal.Detail)
}

func adSize(ad *grid.Ad) int {
	if len(ad.Sealed) > 0 {
		return len(ad.Sealed)
	}
	n := sizeAd + len(ad.Name) + ratesSize(ad.Rates, 24)
	for i := range ad.Labels {
		n += len(ad.Labels[i].Key) + len(ad.Labels[i].Value) + 8
	}
	return n
}

func ratesSize(rates []grid.Rate, each int) int {
	n := 0
	for i := range rates {
		n += each + len(rates[i].Class)
	}
	return n
}

// count counts a sent message.
func (t *Traffic) count(m *grid.Message, size int) {
	t.Sent[m.Kind]++
	t.Bytes[m.Kind] += uint64(size)
	switch {
	case m.Kind == grid.KindFind && m.Find.Hops == 0:
		t.Walks++
	case m.Kind == grid.KindHit && m.Find.Hops > 0:
		t.Found++
		t.FoundHops += uint64(m.Find.Hops)
	}
}
