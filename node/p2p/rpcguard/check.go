package rpcguard

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of one RPC. A node's own RPCs stay far below: it announces on one topic, and frames are split by size, not
// by count.
const (
	MaxSubscriptions = 16   // changes of subscriptions
	MaxPublished     = 256  // messages
	MaxControls      = 32   // IHAVE, IWANT, GRAFT, PRUNE and IDONTWANT, each
	MaxIDs           = 1024 // message IDs in all
	maxName          = 128  // bytes of a topic's name, an ID, an identity, a key or a signature
	seqno            = 8    // bytes of a sequence number

	maxBackoff = uint64(time.Hour / time.Second) // that a PRUNE may ask for
)

// Errors of Check.
var (
	ErrMalformed = errors.New("broken encoding")
	ErrBound     = errors.New("too much")
	ErrExchange  = errors.New("hands on peers")
)

// counts holds the numbers of elements of one RPC so far; the elements of a list may be spread over its bytes.
type counts struct {
	subscriptions, published, controls, ids int
}

// Check returns the number of messages in an encoded RPC, and an error for anything that no node sends: broken
// encoding (ErrMalformed), counts and lengths beyond the bounds (ErrBound), and peer exchange (ErrExchange). Fields
// of later versions are skipped. It allocates nothing.
func Check(b []byte) (messages int, err error) {
	var c counts
	err = fields(b, func(num protowire.Number, v value) error {
		switch num {
		case 1:
			if c.subscriptions++; c.subscriptions > MaxSubscriptions {
				return bound("changes of subscriptions", c.subscriptions, MaxSubscriptions)
			}
			return v.message(func(num protowire.Number, v value) error { return v.name(num == 2) })
		case 2:
			if c.published++; c.published > MaxPublished {
				return bound("messages", c.published, MaxPublished)
			}
			return v.message(published)
		case 3:
			return v.message(c.control)
		}
		return nil
	})
	return c.published, err
}

// published checks a field of a message. The frame bounds its data.
func published(num protowire.Number, v value) error {
	if num == 3 && len(v.bytes) != seqno {
		return bound("bytes of a sequence number", len(v.bytes), seqno)
	}
	return v.name(num != 2)
}

// control checks a field of the control part: lists of IHAVE, IWANT, GRAFT, PRUNE, IDONTWANT.
func (c *counts) control(num protowire.Number, v value) error {
	if num > 5 {
		return nil
	}
	if c.controls++; c.controls > 5*MaxControls {
		return bound("control messages", c.controls, 5*MaxControls)
	}
	return v.message(func(sub protowire.Number, v value) error {
		switch {
		case num == 4 && sub == 2:
			return ErrExchange
		case num == 4 && sub == 3:
			if v.number > maxBackoff {
				return bound("seconds of a prune", int(min(v.number, 1<<62)), int(maxBackoff))
			}
			return nil
		case num == 1 && sub == 2, num == 2 && sub == 1, num == 5 && sub == 1:
			if c.ids++; c.ids > MaxIDs {
				return bound("message IDs", c.ids, MaxIDs)
			}
		}
		return v.name(true)
	})
}

// value is the content of a field: bytes of a string or message, else a number.
type value struct {
	kind   protowire.Type
	bytes  []byte
	number uint64
}

// name checks the length of a field that is a name, an ID, a key or the like.
func (v value) name(is bool) error {
	if is && len(v.bytes) > maxName {
		return bound("bytes of a name", len(v.bytes), maxName)
	}
	return nil
}

// message calls f with each field of a message.
func (v value) message(f func(protowire.Number, value) error) error {
	if v.kind != protowire.BytesType {
		return ErrMalformed
	}
	return fields(v.bytes, f)
}

func fields(b []byte, f func(protowire.Number, value) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return ErrMalformed
		}
		b = b[n:]
		v := value{kind: kind}
		switch kind {
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type, protowire.Fixed64Type:
			n = protowire.ConsumeFieldValue(num, kind, b)
		default: // groups: nobody sends them, and they nest
			return ErrMalformed
		}
		if n < 0 {
			return ErrMalformed
		}
		b = b[n:]
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

func bound(what string, is, most int) error {
	return fmt.Errorf("%w: %d %s, want at most %d", ErrBound, is, what, most)
}
