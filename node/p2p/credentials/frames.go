package credentials

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"skep/grid"
	"skep/node/certificate"
)

// maxFrame bounds a frame of a peer that has not proved a certificate yet, in bytes; a list may have
// certificate.MaxList.
const maxFrame = 4 << 10

// What the initiator wants, the first byte of its frame.
const (
	wantMember = 1 + iota // to be a member: certificate, versions of lists
	wantRedeem            // a certificate, for an invite: its serial, its secret
	wantRenew             // the next certificate
)

// Answers, the first byte of a frame; a text for people follows those that are not ok.
const (
	answerOK      = iota
	answerRefused // the certificate does not hold
	answerDenied  // there is no certificate for that, and there will be none
	answerLater   // it cannot be said now
)

var errFrame = errors.New("a frame that cannot be")

func writeFrame(w io.Writer, body []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(body))), body...))
	return err
}

// readFrame reads a frame of 1 to most bytes.
func readFrame(r io.Reader, most int) ([]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(head[:]))
	if n == 0 || n > most {
		return nil, fmt.Errorf("%w: %d bytes, want 1 to %d", errFrame, n, most)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// showing is a certificate and which lists are known beside it, as a frame has it behind its first byte.
type showing struct {
	chain    *certificate.Chain
	versions []certificate.Version
}

func (s *showing) append(dst []byte) []byte {
	b := s.chain.Append(nil)
	dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(b))), b...)
	dst = append(dst, byte(len(s.versions)))
	for _, v := range s.versions {
		dst = binary.BigEndian.AppendUint64(append(dst, v.Signer[:]...), v.Number)
	}
	return dst
}

func readShowing(b []byte) (s showing, err error) {
	const versionSize = len(certificate.Key{}) + 8
	if len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b))+1 {
		return s, errFrame
	}
	size := int(binary.BigEndian.Uint16(b))
	if s.chain, err = certificate.DecodeChain(b[2 : 2+size]); err != nil {
		return s, err
	}
	count := int(b[2+size])
	b = b[2+size+1:]
	if count > certificate.MaxSigners+1 || len(b) != count*versionSize {
		return s, errFrame
	}
	for ; len(b) > 0; b = b[versionSize:] {
		s.versions = append(s.versions, certificate.Version{Signer: certificate.Key(b[:len(certificate.Key{})]),
			Number: binary.BigEndian.Uint64(b[len(certificate.Key{}):])})
	}
	return s, nil
}

// lacking returns how many lists somebody with versions has that others lack.
func lacking(versions, others []certificate.Version) (n int) {
	for _, v := range versions {
		newer := true
		for _, o := range others {
			newer = newer && !(o.Signer == v.Signer && o.Number >= v.Number)
		}
		if newer {
			n++
		}
	}
	return n
}

func sendLists(w io.Writer, lists []*certificate.List) error {
	for _, l := range lists {
		if err := writeFrame(w, l.Append(nil)); err != nil {
			return err
		}
	}
	return nil
}

func readLists(r io.Reader, count int) (lists []*certificate.List, err error) {
	for range count {
		b, err := readFrame(r, certificate.MaxList)
		if err != nil {
			return nil, err
		}
		l, err := certificate.DecodeList(b)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	return lists, nil
}

// maxReason bounds the text of an answer that is not ok, in bytes.
const maxReason = 300

func answerFrame(answer byte, reason error) []byte {
	return append([]byte{answer}, grid.Clean(reason.Error(), maxReason)...)
}

// Answer is what another node answers that is not ok.
type Answer struct {
	answer byte
	reason string // its words
}

// Error implements error.
func (a *Answer) Error() string { return a.reason }

// Denied reports whether the answer will not change.
func (a *Answer) Denied() bool { return a.answer == answerDenied }

// readAnswer reads a frame and returns what follows its ok; an Answer if it is not ok.
func readAnswer(r io.Reader) ([]byte, error) {
	b, err := readFrame(r, maxFrame)
	if err != nil {
		return nil, err
	}
	if b[0] != answerOK {
		return nil, &Answer{b[0], grid.Clean(string(b[1:]), maxReason)}
	}
	return b[1:], nil
}
