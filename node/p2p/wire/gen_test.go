package wire

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
	"skep/requirement"
)

// Generators of all that may be on the wire, within the bounds.

var (
	genText  = rapid.StringMatching(`[a-zA-Z0-9 ./:_äß-]{0,24}`)
	genWord  = rapid.StringMatching(`[a-z][a-z0-9.-]{0,15}`)
	genBytes = rapid.Custom(func(t *rapid.T) string {
		b := rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 40).Draw(t, "bytes")
		return string(b)
	})
	genSpan = rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(MaxSpan)).Draw(t, "span"))
	})
	genSize = rapid.Custom(func(t *rapid.T) grid.Bytes {
		return grid.Bytes(rapid.Int64Range(0, math.MaxInt64).Draw(t, "size"))
	})
)

func array[T ~[32]byte](t *rapid.T, label string) (a T) {
	b := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label)
	b[0] |= 1 // never zero
	return T(b)
}

func genJob(t *rapid.T) (j grid.JobID) {
	j.Origin = array[grid.NodeID](t, "origin")
	copy(j.Nonce[:], rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "nonce"))
	return j
}

func genAttempt(t *rapid.T, j grid.JobID, count uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: j, Index: rapid.Uint32Range(0, count-1).Draw(t, "index")},
		Attempt: grid.Attempt{Epoch: rapid.Uint32().Draw(t, "epoch"), N: rapid.Uint32().Draw(t, "n")}}
}

func genAttempts(t *rapid.T, least, most int) (as []grid.AttemptID) {
	j := genJob(t)
	for n := rapid.IntRange(least, most).Draw(t, "attempts"); len(as) < n; {
		if rapid.IntRange(0, 4).Draw(t, "other job") == 0 {
			j = genJob(t)
		}
		as = append(as, genAttempt(t, j, grid.MaxCount))
	}
	return as
}

// testKey is the key of the n-th test node, always the same.
func testKey(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func nodeOf(key ed25519.PrivateKey) grid.NodeID {
	return grid.NodeID(key.Public().(ed25519.PublicKey))
}

func genAd(t *rapid.T) (*grid.Ad, ed25519.PrivateKey) {
	key := testKey(rapid.Byte().Draw(t, "node"))
	a := &grid.Ad{Node: nodeOf(key), Seq: grid.Seq{Boot: rapid.Uint64().Draw(t, "boot"), N: rapid.Uint64().Draw(t, "n")},
		Name: genText.Draw(t, "name"), Capacity: genResources(t), Backlog: genSpan.Draw(t, "backlog"),
		Speed: rapid.Float64Range(1e-9, 1e6).Draw(t, "speed"), Availability: rapid.Float64Range(0, 1).Draw(t, "availability"),
		Engines: rapid.SliceOfN(genWord, 0, grid.MaxEngines).Draw(t, "engines"), Rates: genRates(t),
		Addrs: rapid.SliceOfN(genText, 0, grid.MaxAddrs).Draw(t, "addrs"), Draining: rapid.Bool().Draw(t, "draining"),
		Leaving: rapid.Bool().Draw(t, "leaving"), Full: rapid.Bool().Draw(t, "full"),
		Private: rapid.Bool().Draw(t, "private"), Away: rapid.Bool().Draw(t, "away"),
		AdWork: grid.AdWork{Price: genBid.Draw(t, "price"), Outbid: genBid.Draw(t, "outbid")}}
	if rapid.Bool().Draw(t, "placed") {
		for k := range a.Coord.At {
			a.Coord.At[k] = rapid.Float32Range(-grid.MaxCoord, grid.MaxCoord).Draw(t, "at")
		}
		a.Coord.Height = rapid.Float32Range(1e-5, grid.MaxCoord).Draw(t, "height")
		a.Coord.Error = rapid.Float32Range(1e-3, grid.MaxCoordError).Draw(t, "error")
	}
	if rapid.Bool().Draw(t, "requires") {
		a.Accept = genExpression(requirement.Accept, "job.submitter != 'guest'", "time.hour >= 18").Draw(t, "accept")
		a.Hour = requirement.Hour{Known: true, OfDay: rapid.Uint8Range(0, 23).Draw(t, "hour"),
			Day: rapid.Uint8Range(0, 6).Draw(t, "day")}
	}
	if rapid.Bool().Draw(t, "shares") {
		a.Sharing.Least = rapid.Float64Range(grid.MinLeastSpeed, 1).Draw(t, "least")
		a.Sharing.Bids = rapid.Float64Range(0, 1e9).Draw(t, "bids")
	}
	a.Free = grid.Resources{CPU: a.Capacity.CPU / 2, Memory: a.Capacity.Memory / 3}
	for kind, n := range a.Capacity.Counts.All() {
		a.Free = a.Free.Plus(grid.Resources{Counts: grid.CountsOf(kind, rapid.Int64Range(0, n).Draw(t, "free units"))})
		a.Waits = a.Free.Counts
	}
	for i := range rapid.IntRange(0, 20).Draw(t, "labels") {
		a.Labels = append(a.Labels, grid.Label{Key: fmt.Sprintf("k%02d", i), Value: genText.Draw(t, "value")})
	}
	return a, key
}

func genFind(t *rapid.T) grid.Find {
	f := grid.Find{ID: rapid.Uint64().Draw(t, "id"), Asker: array[grid.NodeID](t, "asker"), Needs: genNeeds(t),
		Engine: genWord.Draw(t, "engine"), Left: rapid.Uint8Range(0, grid.MaxHops).Draw(t, "left"),
		Hops: rapid.Uint8Range(0, grid.MaxHops).Draw(t, "hops"), Within: genSpan.Draw(t, "within")}
	for range rapid.IntRange(0, grid.MaxVisited).Draw(t, "visited") {
		f.Visited = append(f.Visited, array[grid.NodeID](t, "visited"))
	}
	return f
}

func genDigest(t *rapid.T, least, most int) (es []grid.AdEntry) {
	for range rapid.IntRange(least, most).Draw(t, "ads") {
		a, key := genAd(t)
		sealed, err := Seal(key, a)
		if err != nil {
			t.Fatal(err)
		}
		a.Sealed = sealed
		es = append(es, grid.AdEntry{Ad: a, Hops: rapid.Uint8Range(0, grid.MaxHops).Draw(t, "hops")})
	}
	return es
}

var genWhy = rapid.Custom(func(t *rapid.T) grid.Why {
	w := grid.Why(rapid.Uint8Range(0, uint8(grid.WhyRoom)).Draw(t, "why"))
	if w == grid.WhyNever {
		return grid.WhyQueue
	}
	return w
})

var genBid = rapid.Custom(func(t *rapid.T) grid.Bid {
	return grid.Bid(rapid.Int32Range(0, int32(grid.MaxBid)).Draw(t, "bid"))
})

// genMessage fills m, which may be used, with a message of the kind.
func genMessage(t *rapid.T, k grid.Kind, m *grid.Message) {
	m.Reset(k)
	switch k {
	case grid.KindDigest:
		m.Digest = genDigest(t, 0, 4)
	case grid.KindBye:
		m.Digest = genDigest(t, 1, 1)
	case grid.KindPoll:
		m.Poll = grid.Poll{ID: rapid.Uint64().Draw(t, "id"), Class: genText.Draw(t, "class"), Needs: genResources(t),
			Rates: genRates(t),
			Speed: rapid.Float64Range(0, 1e6).Draw(t, "speed"), Cores: genResources(t).CPU,
			Mine: rapid.Uint64().Draw(t, "mine"), Have: rapid.Uint64().Draw(t, "have"),
			Bid: genBid.Draw(t, "bid"), Trades: rapid.Bool().Draw(t, "trades"), Options: genPollOptions(t)}
	case grid.KindState:
		m.State = grid.State{ID: rapid.Uint64().Draw(t, "id"), ECT: genSpan.Draw(t, "ect"),
			Backlog: genSpan.Draw(t, "backlog"),
			Free:    genResources(t), Why: genWhy.Draw(t, "why"), Rates: genRates(t), Speed: rapid.Float64Range(0, 1e6).Draw(t,
				"speed"),
			Cores: genResources(t).CPU, Mine: rapid.Uint64().Draw(t, "mine"), Have: rapid.Uint64().Draw(t, "have"),
			Waiting: rapid.Int32Range(0, grid.MaxCount).Draw(t, "waiting"), Running: rapid.Int32Range(0, grid.MaxCount).Draw(t,
				"running"),
			Ran: genSpan.Draw(t, "ran"), Rest: genSpan.Draw(t, "rest"),
			Quote: grid.Quote{Price: genBid.Draw(t, "price"), Outbid: genBid.Draw(t, "outbid"),
				Bids: rapid.Int64Range(0, grid.MaxBids).Draw(t, "bids")},
			Options: genOptionStates(t)}
	case grid.KindOffer:
		job, s := genSealed(t)
		m.Offer = grid.Offer{ID: genAttempt(t, job, s.Count), Spec: s, Class: genText.Draw(t, "class"),
			Lease: time.Duration(rapid.Int64Range(0, int64(grid.MaxTimeout)).Draw(t, "lease")), Age: genSpan.Draw(t, "age"),
			Stays: rapid.Bool().Draw(t, "stays"), Pulled: rapid.Bool().Draw(t, "pulled"),
			Asks: rapid.Bool().Draw(t, "asks")}
		for range rapid.IntRange(0, grid.MaxBarred).Draw(t, "barred") {
			m.Offer.Barred = append(m.Offer.Barred, array[grid.NodeID](t, "barred"))
		}
		genGangSize(t, s, &m.Offer.ID)
		m.Offer.Inputs, m.Offer.Places = genFiles(t, 2), genPlaces(t, s, m.Offer.ID.Attempt)
		m.Offer.Before, m.Offer.Option, m.Offer.Assigned = genDivision(t), genOption(t, s), genSigned(t, grid.MaxProof)
		m.Offer.Evidence, m.Offer.Links = genSigned(t, grid.MaxEvidence), genSigned(t, grid.MaxLinks)
	case grid.KindWrite, grid.KindCampaign:
		m.Register.Job, m.Register.Spec = genSealed(t)
		m.Register.Seq = rapid.Uint64().Draw(t, "seq")
		m.Register.Signatures = grid.Signatures{Genesis: genSigned(t, 64), Vote: genSigned(t, 64),
			Mandate: genSigned(t, grid.MaxMandate), Change: genSigned(t, 64)}
		m.Register.Set = genMembership(t)
	case grid.KindAwait, grid.KindAwaited:
		m.Register.Job, m.Register.Seq = genJob(t), rapid.Uint64().Draw(t, "seq")
		m.Register.Next, m.Register.More = rapid.Uint32().Draw(t, "next"), rapid.Bool().Draw(t, "more")
		m.Register.Count = rapid.Uint32().Draw(t, "count")
		for range rapid.IntRange(0, 3).Draw(t, "ends") {
			m.Register.Entries = append(m.Register.Entries, grid.Entry{
				Index: rapid.Uint32Range(0, grid.MaxEntryIndex).Draw(t, "index"), Result: genResult(t)})
		}
	case grid.KindBeat:
		m.Attempts = genAttempts(t, 0, 30)
		m.Reports = genReports(t, len(m.Attempts))
	case grid.KindStartLease:
		m.Register.Seq = rapid.Uint64().Draw(t, "seq")
		if m.Attempts = genAttempts(t, 0, 30); len(m.Attempts) > 0 { // the order is that in which these wait
			m.Order = rapid.Uint8().Draw(t, "order")
		}
		m.Reports = genReports(t, len(m.Attempts))
	case grid.KindDrop, grid.KindAsk:
		m.Attempts = genAttempts(t, 0, 30)
	case grid.KindAccept, grid.KindVacate:
		m.Attempts, m.Started = genAttempts(t, 1, 1), rapid.Bool().Draw(t, "started")
	case grid.KindResultAck:
		m.Attempts = genAttempts(t, 1, 1)
	case grid.KindRefuse, grid.KindDepositAck:
		m.Attempts = genAttempts(t, 1, 1)
		m.Refusal = grid.Refusal{Why: genWhy.Draw(t, "why"), Detail: genText.Draw(t, "detail")}
		if rapid.Bool().Draw(t, "pulled") {
			m.Puller = grid.NodeID{byte(rapid.IntRange(1, 255).Draw(t, "puller"))}
		}
		if m.Kind == grid.KindRefuse && rapid.Bool().Draw(t, "priced") {
			m.Prices = genPrices(t)
		}
	case grid.KindReserve, grid.KindReserveAck:
		m.Reserve = genReserve(t)
	case grid.KindCheckpoint, grid.KindCheckpointAck, grid.KindCheckpointKeep:
		m.Attempts, m.Checkpoint = genAttempts(t, 1, 1), genCheckpoint(t)
	case grid.KindWaiting, grid.KindNoWork:
	case grid.KindPull:
		m.Poll.Needs = genResources(t)
	case grid.KindResult:
		m.Attempts = genAttempts(t, 1, 1)
		m.Result = genResult(t)
	case grid.KindDeposit:
		m.Attempts = genAttempts(t, 1, 1)
		if rapid.Bool().Draw(t, "of a task") {
			m.Result = genResult(t)
		}
	case grid.KindHit:
		m.Find = genFind(t)
		m.Digest = genDigest(t, 1, 1)
	case grid.KindFind, grid.KindMiss, grid.KindCall:
		m.Find = genFind(t)
	}
}

var genKind = rapid.Custom(func(t *rapid.T) grid.Kind {
	return grid.Kind(rapid.IntRange(1, grid.Kinds-1).Draw(t, "kind"))
})
