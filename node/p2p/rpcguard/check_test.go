package rpcguard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func many[T any](n int, f func(i int) T) (list []T) {
	for i := range n {
		list = append(list, f(i))
	}
	return list
}

func TestCheck(t *testing.T) {
	ids := func(n int) []string { return many(n, func(i int) string { return fmt.Sprintf("%046d", i) }) }
	topic, long := proto.String("skep/0123456789abcdef"), proto.String(strings.Repeat("x", maxName+1))
	control := func(c *pb.ControlMessage) *pb.RPC { return &pb.RPC{Control: c} }
	message := func(m *pb.Message) *pb.RPC { return &pb.RPC{Publish: []*pb.Message{m}} }
	tests := []struct {
		name string
		rpc  *pb.RPC
		want error
	}{
		{"nothing", &pb.RPC{}, nil},
		{"what nodes send", &pb.RPC{
			Subscriptions: []*pb.RPC_SubOpts{{Subscribe: proto.Bool(true), Topicid: topic, RequestsPartial: proto.Bool(false)}},
			Publish: many(120, func(int) *pb.Message {
				return &pb.Message{From: make([]byte, 38), Data: make([]byte, 16<<10), Seqno: make([]byte, 8), Topic: topic,
					Signature: make([]byte, 64)}
			}),
			Control: &pb.ControlMessage{Ihave: []*pb.ControlIHave{{TopicID: topic, MessageIDs: ids(600)}},
				Iwant: []*pb.ControlIWant{{MessageIDs: ids(100)}},
				Graft: []*pb.ControlGraft{{TopicID: topic}}, Prune: []*pb.ControlPrune{{TopicID: topic, Backoff: proto.Uint64(60)}},
				Idontwant: []*pb.ControlIDontWant{{MessageIDs: ids(1)}}}}, nil},
		{"subscriptions", &pb.RPC{Subscriptions: many(MaxSubscriptions+1,
			func(int) *pb.RPC_SubOpts { return &pb.RPC_SubOpts{} })}, ErrBound},
		{"name of a topic", &pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{Topicid: long}}}, ErrBound},
		{"messages", &pb.RPC{Publish: many(MaxPublished+1, func(int) *pb.Message { return &pb.Message{} })}, ErrBound},
		{"topic of a message", message(&pb.Message{Topic: long}), ErrBound},
		{"long sequence number", message(&pb.Message{Seqno: make([]byte, 9)}), ErrBound},
		{"long origin", message(&pb.Message{From: []byte(*long)}), ErrBound},
		{"long key", message(&pb.Message{Key: []byte(*long)}), ErrBound},
		{"grafts",
			control(&pb.ControlMessage{Graft: many(5*MaxControls+1, func(int) *pb.ControlGraft { return &pb.ControlGraft{} })}),
			ErrBound},
		{"IDs", control(&pb.ControlMessage{Ihave: []*pb.ControlIHave{{MessageIDs: ids(MaxIDs + 1)}}}), ErrBound},
		{"IDs that are not wanted",
			control(&pb.ControlMessage{Idontwant: []*pb.ControlIDontWant{{MessageIDs: ids(MaxIDs + 1)}}}), ErrBound},
		{"long ID", control(&pb.ControlMessage{Iwant: []*pb.ControlIWant{{MessageIDs: []string{*long}}}}), ErrBound},
		{"long pause", control(&pb.ControlMessage{Prune: []*pb.ControlPrune{{Backoff: proto.Uint64(1 << 40)}}}), ErrBound},
		{"peers to dial", control(&pb.ControlMessage{Prune: []*pb.ControlPrune{{Peers: []*pb.PeerInfo{{}}}}}), ErrExchange},
	}
	for _, tt := range tests {
		b, err := proto.Marshal(tt.rpc)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Check(b); !errors.Is(err, tt.want) || err == nil && n != len(tt.rpc.Publish) {
			t.Errorf("%s: %d messages, %v: want %d, %v", tt.name, n, err, len(tt.rpc.Publish), tt.want)
		}
	}
	group := protowire.AppendTag(nil, 9, protowire.StartGroupType)
	for _, b := range [][]byte{{0xff}, {1<<3 | 2, 9, 1}, {3 << 3, 1}, group} {
		if _, err := Check(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: %v: want %v", b, err, ErrMalformed)
		}
	}
	later := protowire.AppendBytes(protowire.AppendTag(nil, 300, protowire.BytesType), slices.Repeat([]byte{7}, 1000))
	if _, err := Check(later); err != nil {
		t.Errorf("a field of a later version: %v", err)
	}
}

// Counts are of the whole RPC: a list that is spread over several control parts counts as one.
func TestSplitListsAreCountedTogether(t *testing.T) {
	part,
		err := proto.Marshal(&pb.RPC{Control: &pb.ControlMessage{Iwant: []*pb.ControlIWant{{MessageIDs: many(100,
		func(int) string { return "x" })}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check(slices.Repeat(part, 1+MaxIDs/100)); !errors.Is(err, ErrBound) {
		t.Errorf("%v: want %v", err, ErrBound)
	}
}
