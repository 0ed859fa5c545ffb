package p2p

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/listing"
	"skep/node/p2p/internal/rig"
	"skep/node/p2p/joblist"
	"skep/node/p2p/wire"
)

// list returns the jobs of the grid as a member lists them: name, ended tasks, whether it may be behind.
func (m *member) list(q listing.Query) (text string, r *joblist.Result) {
	m.t.Helper()
	r, err := m.Jobs(m.t.Context(), &q)
	if err != nil {
		m.t.Fatal(err)
	}
	for i := range r.Jobs {
		e := &r.Jobs[i]
		text += fmt.Sprintf("%s:%d", e.Name, e.Ended)
		if e.Behind {
			text += "?"
		}
		text += " "
	}
	return strings.TrimSpace(text), r
}

// submitNamed submits a job of one task.
func (m *member) submitNamed(nonce byte, name, script string) grid.JobID {
	m.t.Helper()
	spec := rig.Sh(script)
	spec.Name = name
	if err := m.Submit(context.Background(), m.job(nonce), spec); err != nil {
		m.t.Fatal(err)
	}
	return m.job(nonce)
}

func TestListOfTheGrid(t *testing.T) {
	t.Parallel()
	a, b, c := openReal3(t)
	long := a.submitNamed(1, "long", "sleep 60")
	submitted := time.Now()
	rig.Await(t, "b and c keep the job", func() bool { return len(a.view(long).Members) == 3 })
	rig.Await(t, "long is the older one also where its time of submission came late, with the message",
		func() bool { return time.Since(submitted) > 2*time.Second })
	b.submitNamed(2, "short", "true")
	rig.Await(t, "short is over", func() bool { return b.view(b.job(2)).Ended == 1 })
	for _, m := range []*member{a, b, c} {
		text, r := m.list(listing.Query{Limit: 10})
		if text != "short:1 long:0" || r.Asked != 2 || len(r.Silent) != 0 || r.More {
			t.Errorf("at %s: %s, %d of %d nodes silent, more %v: want both jobs of all nodes", m.cfg.Name, text, len(r.Silent),
				r.Asked, r.More)
		}
		if text, r := m.list(listing.Query{Limit: 1}); text != "short:1" || !r.More {
			t.Errorf("at %s: %s, more %v: want the newest of two", m.cfg.Name, text, r.More)
		}
		if text, _ := m.list(listing.Query{Limit: 10, Ref: long.String()[:8]}); text != "long:0" {
			t.Errorf("at %s: %q begins with %s", m.cfg.Name, text, long.String()[:8])
		}
		if text, _ := m.list(listing.Query{Limit: 10, Ref: "short"}); text != "short:1" {
			t.Errorf("at %s: %q is named short", m.cfg.Name, text)
		}
	}
	// The node where it was submitted is gone: the members of its register tell of the job.
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "c has noticed that a is gone", func() bool { return !slices.Contains(c.transport.Peers(), a.self) })
	if text, _ := c.list(listing.Query{Limit: 10, Name: "lo*"}); strings.TrimSuffix(text, "?") != "long:0" {
		t.Errorf("%q is listed: want the job of the node that is gone", text)
	}
}

// What a member invents about the jobs of others is not listed; what is malformed is an offence; who does not answer in
// time is counted.
func TestListAmongHostileMembers(t *testing.T) {
	t.Parallel()
	a := openReal(t, filepath.Join(t.TempDir(), "a"))
	b := openReal(t, filepath.Join(t.TempDir(), "b"), a.token())
	rig.Await(t, "they see each other", func() bool { return a.connected() >= 1 && b.connected() >= 1 })
	b.submitNamed(1, "mine", "sleep 60")
	answers := []func(st network.Stream){
		func(st network.Stream) { // a job of b that is none, and one of its own
			row := listing.Row{ID: b.job(9), Name: "invented", Access: grid.AccessMembers, Submitted: time.Now().UnixNano(),
				Counts: listing.Counts{Count: 1}, Leads: true}
			other := row
			other.ID.Origin, other.Name = grid.NodeID{7}, "of one who is gone"
			body, _ := wire.AppendJobRows(nil, []listing.Row{row, other}, false)
			st.Write(append(binary.BigEndian.AppendUint32([]byte{wire.StatusOK}, uint32(len(body))), body...))
		},
		func(st network.Stream) { // more jobs than were asked for
			var rows []listing.Row
			for i := range 11 {
				rows = append(rows, listing.Row{ID: grid.JobID{Origin: grid.NodeID{8}, Nonce: [10]byte{byte(i)}}, Name: "more",
					Access: grid.AccessMembers, Submitted: 1, Counts: listing.Counts{Count: 1}, Leads: true})
			}
			body, _ := wire.AppendJobRows(nil, rows, false)
			st.Write(append(binary.BigEndian.AppendUint32([]byte{wire.StatusOK}, uint32(len(body))), body...))
		},
		func(st network.Stream) { // far too long
			st.Write(binary.BigEndian.AppendUint32([]byte{wire.StatusOK}, wire.MaxJobRows+1))
		},
		func(st network.Stream) { st.Write([]byte{wire.StatusOK, 0, 0, 0, 3, 0xff, 0xff, 0xff}) }, // malformed
		func(st network.Stream) { io.Copy(io.Discard, st) },                                       // no answer
	}
	for _, answer := range answers {
		r := newSilentRogue(t, a)
		r.SetStreamHandler(joblist.Protocol, func(st network.Stream) { answer(st); st.Close() })
	}
	rig.Await(t, "all are connected", func() bool { return len(a.transport.Peers()) >= 6 })
	text, r := a.list(listing.Query{Limit: 10})
	if text != "of one who is gone:0 mine:0" || len(r.Silent) != 4 {
		t.Errorf("%q, %d silent: want b's job without the invented one, and four without an answer", text, len(r.Silent))
	}
	if n := a.Dropped()["jobs"]; n != 3 {
		t.Errorf("%d offences: want the three answers that cannot be", n)
	}
}

// A peer gets a few answers a second, and a request that cannot be is an offence.
func TestListIsRateLimited(t *testing.T) {
	t.Parallel()
	a := openReal(t, filepath.Join(t.TempDir(), "a"))
	r := newSilentRogue(t, a)
	ask := func(request []byte) byte {
		st, err := r.NewStream(network.WithAllowLimitedConn(t.Context(), ""), r.Network().Peers()[0], joblist.Protocol)
		if err != nil {
			return wire.StatusBusy
		}
		defer st.Close()
		st.SetDeadline(time.Now().Add(rig.Timeout))
		st.Write(request)
		var status [1]byte
		if _, err := io.ReadFull(st, status[:]); err != nil {
			return wire.StatusNone
		}
		return status[0]
	}
	request, err := wire.JobQueryRequest(&listing.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	got := map[byte]int{}
	began := time.Now()
	for range 40 {
		got[ask(request)]++
	}
	if most := 8 * (2 + int(2*time.Since(began)/time.Second)); got[wire.StatusOK] < 8 || got[wire.StatusOK] > most {
		t.Errorf("answers %v: want 8 of status 0 in half a second, at most %d in %v", got, most, time.Since(began))
	}
	rig.Await(t, "a seat is free", func() bool { return ask(request) == wire.StatusOK })
	before := a.Dropped()["request"]
	rig.Await(t, "a bad request is refused", func() bool {
		ask(make([]byte, wire.JobQuerySize)) // limit 0
		return a.Dropped()["request"] > before
	})
}
