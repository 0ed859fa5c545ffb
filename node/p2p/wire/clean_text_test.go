package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

// unprintable is a text that earlier versions let through: a control of C1, an override of direction and a
// separator of lines.
const unprintable = "a\u009b2J\u202eb\u2028c"

// unprintableSpec is a job of an earlier version.
func unprintableSpec() *pb.JobSpec {
	s := putSpec(exampleSpec())
	s.Name, s.Class, s.Policy = unprintable, unprintable, unprintable
	s.Needs.Labels = []*pb.LabelNeed{{Key: "zone\u202e", Values: []string{unprintable}}}
	s.Inputs = []*pb.File{{Path: []byte(unprintable + "\n"), Blob: make([]byte, 32), Size: 1}}
	s.Inputs[0].Blob[0] = 1
	s.Outputs = [][]byte{[]byte(unprintable), []byte("\xff*")}
	return s
}

// unprintableSpecBytes is unprintableSpec as encoded.
func unprintableSpecBytes() []byte {
	b, err := proto.Marshal(unprintableSpec())
	if err != nil {
		panic(err)
	}
	return b
}

func unprintableResult() *pb.Result {
	return &pb.Result{Cause: 1, Error: unprintable,
		Outputs: []*pb.File{{Path: []byte(unprintable + "\x1b"), Blob: exampleSpec().Inputs[0].Blob[:]}}}
}

// texts checks that all of a value is printable, in its JSON form, which escapes none of the characters in question
// but C0.
func texts(t *testing.T, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\u009b", "\u202e", `\u2028`, `\u001b`, `\n`} {
		if strings.Contains(string(b), bad) {
			t.Errorf("%q is left in %.2000s", bad, b)
		}
	}
}

// A peer of an earlier version, or one that forwards a third one's text, may send text that this version does not
// take for printable: it is decoded, and can be displayed and encoded again.
func TestUnprintableTextIsCleaned(t *testing.T) {
	at := putAttempt(exampleAttempt(0))
	job := putJob(exampleJob())
	rates := &pb.Rates{Class: []string{unprintable}, Alpha: []float64{1}, Mu: []float64{1}}
	for kind, body := range map[grid.Kind]proto.Message{
		grid.KindPoll:   &pb.Poll{Class: unprintable, Rates: rates},
		grid.KindState:  &pb.State{Rates: rates},
		grid.KindOffer:  &pb.Offer{Attempt: at, Spec: unprintableSpecBytes(), Class: unprintable},
		grid.KindRefuse: &pb.Refuse{Attempt: at, Detail: unprintable},
		grid.KindResult: &pb.Ended{Attempt: at, Result: unprintableResult()},
		grid.KindWrite: &pb.Guard{Job: job, Spec: unprintableSpecBytes(),
			Finals: []*pb.Final{{Result: unprintableResult()}}},
		grid.KindMiss: &pb.Find{Engine: unprintable, Needs: unprintableSpec().Needs},
		grid.KindVote: &pb.Guard{Job: job, Finals: []*pb.Final{{Result: unprintableResult()}}},
	} {
		var c Codec
		var m grid.Message
		if err := c.Decode(frame(t, kind, body), &m, Open); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		texts(t, &m)
		if _, err := c.Append(nil, &m, nil); err != nil {
			t.Errorf("%s cannot be said again: %v", kind, err)
		}
	}
	b, _ := proto.Marshal(&pb.Hello{Version: 1, Software: unprintable})
	var h Hello
	if err := h.Decode(b); err != nil {
		t.Error(err)
	}
	texts(t, h)
	tok := exampleToken()
	tok.Network = unprintable
	p, _ := proto.Marshal(&pb.Token{Secret: tok.Secret[:], Network: unprintable})
	heard, err := ParseToken(payload(p))
	if err != nil {
		t.Error(err)
	}
	texts(t, heard.Network)
}

// The user of a signed spec is displayed as well.
func TestUnprintableSubmitterIsCleaned(t *testing.T) {
	b, err := proto.Marshal(&pb.Submitter{Node: make([]byte, 32), User: unprintable})
	if err != nil {
		t.Fatal(err)
	}
	var s grid.Submitter
	if err := (part{b, string(b)}).submitter(&s); err != nil {
		t.Fatal(err)
	}
	texts(t, s)
}

// An ad keeps its signed bytes, whatever is cleaned for display, so that it can be forwarded.
func TestUnprintableAdIsCleaned(t *testing.T) {
	key := testKey(1)
	p := putAd(exampleAd(key))
	p.Name, p.Engines, p.Labels = unprintable, []string{unprintable}, []*pb.Label{{Key: "zone\u202e", Value: unprintable}}
	p.Rates = &pb.Rates{Class: []string{unprintable}, Alpha: []float64{1}, Mu: []float64{1}}
	encoded, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign(nil, encoded, adContext)
	if err != nil {
		t.Fatal(err)
	}
	sealed := append(sig, encoded...)
	a, err := Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if string(a.Sealed) != string(sealed) || a.Name != "a?2J?b c" {
		t.Errorf("name %q, %d signed bytes of %d", a.Name, len(a.Sealed), len(sealed))
	}
	if a.Check() != nil || a.Labels[0].Key != "zone?" {
		t.Errorf("%v, %v", a.Check(), a.Labels)
	}
	a.Sealed = nil
	texts(t, a)
}

// No version lets a control character of ASCII through; also in an entry of a register.
func TestControlsAreRefused(t *testing.T) {
	bad := &pb.Result{Cause: 1, Error: "\x1b[31m"}
	for kind, body := range map[grid.Kind]proto.Message{
		grid.KindPoll:   &pb.Poll{Class: "a\x1bb"},
		grid.KindRefuse: &pb.Refuse{Attempt: putAttempt(exampleAttempt(0)), Detail: "\x7f"},
		grid.KindWrite:  &pb.Guard{Job: putJob(exampleJob()), Finals: []*pb.Final{{Result: bad}}},
	} {
		var c Codec
		var m grid.Message
		if err := c.Decode(frame(t, kind, body), &m, Open); !errors.Is(err, ErrBound) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Records of an earlier version can be read, displayed, and written again.
func TestUnprintableRecordsAreCleaned(t *testing.T) {
	j := exampleJob()
	for kind, body := range map[grid.RecordKind]proto.Message{
		grid.RecWork: &pb.WorkValue{State: uint32(grid.WorkFinished), Spec: unprintableSpecBytes(), Class: unprintable,
			Result: unprintableResult()},
		grid.RecClass:    &pb.ClassValue{},
		grid.RecRegister: &pb.GuardValue{Spec: unprintableSpecBytes()},
		grid.RecEntry:    &pb.EntryValue{Task: &pb.TaskValue{State: uint32(grid.Ended), Result: unprintableResult()}},
	} {
		task := grid.AttemptID{Task: grid.TaskID{Job: j}}
		r := &grid.Record{Kind: kind, Work: grid.WorkRecord{ID: task},
			Class: grid.ClassRecord{Class: unprintable}, Register: grid.RegisterRecord{ID: j},
			Entry: grid.EntryRecord{TaskRecord: grid.TaskRecord{ID: task}}}
		key, err := appendKey([]byte{byte(kind)}, r)
		if err != nil {
			t.Fatal(err)
		}
		value, err := proto.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(key, append([]byte{recordVersion}, value...))
		if err != nil {
			t.Errorf("record of kind %d: %v", kind, err)
			continue
		}
		texts(t, got)
		if _, _, err := AppendRecord(nil, got); err != nil {
			t.Errorf("record of kind %d cannot be written again: %v", kind, err)
		}
		for _, s := range []*grid.JobSpec{got.Register.Spec, got.Work.Spec} {
			if s != nil && s.Check() != nil {
				t.Errorf("record of kind %d: %v", kind, s.Check())
			}
		}
	}
}
