package wire

import (
	"encoding/binary"
	"fmt"

	"skep/grid"
	"skep/node/listing"
	"skep/node/p2p/wire/internal/pb"
)

// Sizes in bytes of what is said on a stream of jobs.
const (
	JobQuerySize = 512       // of the request: a length of 2 bytes, the encoded query, and zeros
	MaxJobRows   = 512 << 10 // of an answer; what does not fit is left out, the oldest jobs first
)

var (
	jobQueryShape = &shape{"job query", []field{
		1: number("limit"), 2: number("states"), 3: number("since"), 4: data("name", 1, listing.MaxPattern),
		5: data("ref", 1, grid.MaxName),
	}}
	jobRowShape = &shape{"job row", []field{
		1: data("id", 1, jobSize), 2: data("name", 1, grid.MaxName), 3: number("owner_only"),
		4: data("user", 1, grid.MaxUser), 5: number("submitter"), 6: data("origin_name", 1, grid.MaxName),
		7: number("submitted"), 8: number("cancelled"), 9: number("count"), 10: number("pending"), 11: number("placed"),
		12: number("ended"), 13: number("failed"), 14: number("retried"), 15: number("leads"), 16: number("epoch"),
		17: number("running"), 18: number("held"),
		20: data("class", 1, grid.MaxClass), 21: number("done"), 22: number("exit"), 23: data("stopped", 1, grid.MaxText),
		24: data("members", 1, nodeSize*grid.MaxMembers), 25: data("owner", 1, nodeSize), 26: number("since"),
	}}
	jobRowsShape = &shape{"job rows", []field{
		1: message("rows", listing.MaxRows, jobRowShape), 2: number("more"),
	}}
)

// JobQueryRequest returns the request for jobs, of JobQuerySize bytes.
func JobQueryRequest(q *listing.Query) ([]byte, error) {
	if err := bound(q.Check()); err != nil {
		return nil, err
	}
	p := pb.JobQuery{Limit: uint32(q.Limit), States: uint32(q.States), Since: q.Since, Name: q.Name, Ref: q.Ref}
	out, err := marshal.MarshalAppend(make([]byte, 2, JobQuerySize), &p)
	if err != nil {
		return nil, fmt.Errorf("job query: %w: %w", ErrBound, err)
	}
	binary.BigEndian.PutUint16(out, uint16(len(out)-2))
	return out[:JobQuerySize], nil
}

// ReadJobQuery reads what JobQueryRequest returned. Errors wrap ErrMalformed or ErrBound.
func ReadJobQuery(b []byte) (q listing.Query, err error) {
	size := int(binary.BigEndian.Uint16(b))
	if size > len(b)-2 {
		return q, fmt.Errorf("job query: %w: %d bytes, want at most %d", ErrMalformed, size, len(b)-2)
	}
	b = b[2 : 2+size]
	if err := jobQueryShape.check(b); err != nil {
		return q, err
	}
	var p pb.JobQuery
	if err := parse(b, &p); err != nil {
		return q, fmt.Errorf("job query: %w", err)
	}
	if p.Limit > listing.MaxRows || p.States > 0xff {
		return q, fmt.Errorf("job query: %w: limit %d, states %#x", ErrBound, p.Limit, p.States)
	}
	q = listing.Query{Limit: int(p.Limit), States: listing.States(p.States), Since: p.Since, Name: p.Name, Ref: p.Ref}
	return q, bound(q.Check())
}

// AppendJobRows appends jobs, newest first, as far as they fit into MaxJobRows; more: older ones were left out before.
func AppendJobRows(dst []byte, rows []listing.Row, more bool) ([]byte, error) {
	var p pb.JobRows
	room := MaxJobRows - 16
	for i := range rows {
		r := putJobRow(&rows[i])
		size := marshal.Size(r)
		if room -= size + 8; room < 0 || i == listing.MaxRows {
			more = true
			break
		}
		p.Rows = append(p.Rows, r)
	}
	p.More = more
	out, err := marshal.MarshalAppend(dst, &p)
	if err != nil {
		return dst, fmt.Errorf("job rows: %w: %w", ErrBound, err)
	}
	return out, nil
}

// ReadJobRows reads what AppendJobRows wrote. Texts are cleaned; numbers that cannot be a job's are an error, which
// wraps ErrMalformed, ErrSize or ErrBound.
func ReadJobRows(b []byte) (rows []listing.Row, more bool, err error) {
	if len(b) > MaxJobRows {
		return nil, false, fmt.Errorf("job rows: %w: %d bytes, want at most %d", ErrSize, len(b), MaxJobRows)
	}
	if err := jobRowsShape.check(b); err != nil {
		return nil, false, err
	}
	var p pb.JobRows
	if err := parse(b, &p); err != nil {
		return nil, false, fmt.Errorf("job rows: %w", err)
	}
	rows = make([]listing.Row, len(p.Rows))
	for i, r := range p.Rows {
		if err := getJobRow(r, &rows[i]); err != nil {
			return nil, false, fmt.Errorf("job row: %w", err)
		}
		if i > 0 && rows[i].Submitted > rows[i-1].Submitted {
			return nil, false, fmt.Errorf("job row: %w: is newer than the one before it", ErrBound)
		}
	}
	return rows, p.More, nil
}

func putJobRow(r *listing.Row) *pb.JobRow {
	x := r.Public()
	x.Clean()
	p := &pb.JobRow{Id: append(append(make([]byte, 0, jobSize), x.ID.Origin[:]...), x.ID.Nonce[:]...), Name: x.Name,
		OwnerOnly: x.Access == grid.AccessOwner, User: x.Submitter.User, Submitter: !x.Submitter.Node.IsZero(),
		OriginName: x.OriginName, Submitted: x.Submitted, Cancelled: x.Cancelled, Leads: x.Leads, Epoch: x.Epoch,
		Count: uint32(x.Count), Pending: uint32(x.Pending), Placed: uint32(x.Placed), Ended: uint32(x.Ended),
		Failed: uint32(x.Failed), Retried: uint32(x.Retried), Running: uint32(x.Running), Held: x.Held,
		Class: x.Class, Done: x.Done, Exit: x.Exit, Stopped: x.Stopped, Since: x.Since}
	for i := range x.Members {
		p.Members = append(p.Members, x.Members[i][:]...)
	}
	if !x.Owner.IsZero() {
		p.Owner = x.Owner[:]
	}
	return p
}

func getJobRow(p *pb.JobRow, r *listing.Row) error {
	if len(p.Id) != jobSize || len(p.Members)%nodeSize != 0 || len(p.Owner) != 0 && len(p.Owner) != nodeSize {
		return fmt.Errorf("%w: an ID of %d bytes, members of %d, an owner of %d", ErrBound, len(p.Id), len(p.Members),
			len(p.Owner))
	}
	for _, n := range [...]uint32{p.Count, p.Pending, p.Placed, p.Ended, p.Failed, p.Retried, p.Running} {
		if n > 1<<31-1 {
			return fmt.Errorf("%w: %d tasks", ErrBound, n)
		}
	}
	*r = listing.Row{Name: p.Name, Access: grid.AccessMembers, OriginName: p.OriginName, Submitted: p.Submitted,
		Cancelled: p.Cancelled, Leads: p.Leads, Epoch: p.Epoch,
		Counts: listing.Counts{Count: int(p.Count), Pending: int(p.Pending), Placed: int(p.Placed), Ended: int(p.Ended),
			Failed: int(p.Failed), Retried: int(p.Retried), Running: int(p.Running), Held: p.Held},
		Class: p.Class, Done: p.Done, Exit: p.Exit, Stopped: p.Stopped, Since: p.Since}
	copy(r.ID.Origin[:], p.Id)
	copy(r.ID.Nonce[:], p.Id[nodeSize:])
	copy(r.Owner[:], p.Owner)
	for i := 0; i < len(p.Members); i += nodeSize {
		r.Members = append(r.Members, grid.NodeID(p.Members[i:i+nodeSize]))
	}
	if p.OwnerOnly {
		r.Access = grid.AccessOwner
	}
	if p.Submitter {
		r.Submitter = grid.Submitter{Node: r.ID.Origin, User: p.User}
	}
	*r = r.Public()
	r.Clean()
	return bound(r.Check())
}
