package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/requirement"
)

// readSpec decodes a spec into fresh memory. The seal and the long texts (arguments, paths, values) are parts of
// one string, so that a spec and its signed bytes do not take memory twice. What may outlive the job is a copy.
func readSpec(encoded []byte) (*grid.JobSpec, error) {
	if len(encoded) == 0 {
		return nil, fmt.Errorf("spec: %w: is missing", ErrMalformed)
	}
	whole := part{encoded, string(encoded)}
	r := specReader{s: new(grid.JobSpec)}
	if err := whole.each(r.number, r.data); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	if r.seals == 0 {
		return r.s, nil
	}
	tail := len(encoded) - sealSize
	if r.seals > 1 || r.last != sealField || tail < 0 || !bytes.HasPrefix(encoded[tail:], sealHead) {
		return nil, fmt.Errorf("spec: %w: want one signature of %d bytes, at the end", ErrMalformed, ed25519.SignatureSize)
	}
	r.s.Sealed = whole.text
	return r.s, nil
}

// specReader fills a spec with the fields of its encoding.
type specReader struct {
	s     *grid.JobSpec
	seals int
	last  protowire.Number // of the fields so far
}

func (r *specReader) number(num protowire.Number, n uint64) (err error) {
	r.last = num
	switch s := r.s; num {
	case 5:
		s.Count = uint32(n)
	case 10:
		s.Timeout = time.Duration(n)
	case 11:
		s.Retries = int32(n)
	case 13:
		s.Wait = n != 0
	case 14:
		s.Idempotent = n != 0
	case signedField:
		s.Signed = n != 0
	case offersField:
		s.RecordsOffers = n != 0
	case 41:
		s.Rules.MaxFailures = int32(n)
	case 42:
		s.Rules.MaxRunning = int32(n)
	case bidField:
		s.Rules.Bid, err = getBid(n)
	case 66:
		s.Rules.Deadline.At = time.Duration(n)
	case 67:
		s.Rules.Deadline.Worthless = time.Duration(n)
	case 68:
		s.Rules.Budget = grid.Budget(n)
	case 78:
		if n > math.MaxUint8 {
			return fmt.Errorf("reliability: %w: %d", ErrBound, n)
		}
		s.Rules.Reliability = grid.Reliability(n)
	case gangField:
		s.Gang.Ranks = uint32(n)
	case gangMinField:
		s.Gang.Min = uint32(n)
	case 15:
		if n > math.MaxUint8 {
			return fmt.Errorf("network: %w: %d", ErrBound, n)
		}
		s.Network = grid.Network(n)
	case 60:
		if n > math.MaxUint8 {
			return fmt.Errorf("stdin: %w: %d", ErrBound, n)
		}
		s.Stdin = grid.Stdin(n)
	case 61:
		if n>>32 != 1 {
			return fmt.Errorf("terminal: %w: %d", ErrBound, n)
		}
		s.Terminal = grid.Terminal{On: true, Rows: uint16(n >> 16), Cols: uint16(n)}
	}
	return err
}

func putTerminal(t grid.Terminal) uint64 {
	if !t.On {
		return 0
	}
	return 1<<32 | uint64(t.Rows)<<16 | uint64(t.Cols)
}

func (r *specReader) data(num protowire.Number, p part) (err error) {
	r.last = num
	switch s := r.s; num {
	case 1:
		s.Name, err = p.cloned("name")
	case 2:
		s.Class, err = p.cloned("class")
	case 3:
		s.Engine, err = p.cloned("engine")
	case 4:
		s.Command = append(s.Command, p.text)
	case 6:
		err = p.needs(&s.Needs)
	case 7:
		s.Inputs = append(s.Inputs, grid.File{})
		err = p.file(&s.Inputs[len(s.Inputs)-1])
	case 8:
		s.Outputs = append(s.Outputs, p.display())
	case 9:
		s.Env = append(s.Env, grid.Var{})
		err = p.variable(&s.Env[len(s.Env)-1])
	case 12:
		s.Policy, err = p.cloned("policy")
	case 17:
		err = p.submitter(&s.Submitter)
	case 18:
		err = getHash(p.b, &s.Capability)
	case arrayField:
		s.Array = new(grid.Array)
		err = p.array(s.Array)
	case searchField:
		s.Gang.Search = new(grid.ScheduleSearch)
		err = p.search(s.Gang.Search)
	case portsField:
		err = p.ports(&s.Gang.Ports)
	case afterField:
		err = p.after(&s.After)
	case 40:
		err = p.onFailure(&s.Rules.OnFailure)
	case 69:
		s.Rules.Rank, err = p.expression("rank", requirement.Rank)
	case secretsField:
		s.Secrets = append(s.Secrets, grid.SecretUse{})
		err = p.secretUse(&s.Secrets[len(s.Secrets)-1])
	case 85:
		s.Outer = append(s.Outer, p.display())
	case 70:
		folders(s).Work = p.display()
	case 71:
		folders(s).Home = p.display()
	case sealField:
		r.seals++
	}
	return err
}

// folders returns those of a spec, which it has from then on.
func folders(s *grid.JobSpec) *grid.Folders {
	if s.Folders == nil {
		s.Folders = new(grid.Folders)
	}
	return s.Folders
}
