package sim

import "skep/grid"

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
