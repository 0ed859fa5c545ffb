package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"skep/grid"
	"skep/node/p2p/wire/internal/pb"
)

func putJob(j grid.JobID) []byte { return appendJob(make([]byte, 0, jobSize), j) }

func appendJob(dst []byte, j grid.JobID) []byte {
	return append(append(dst, j.Origin[:]...), j.Nonce[:]...)
}

func getJob(b []byte, j *grid.JobID) error {
	if len(b) != jobSize {
		return fmt.Errorf("job ID: %w: %d bytes, want %d", ErrBound, len(b), jobSize)
	}
	copy(j.Origin[:], b)
	copy(j.Nonce[:], b[nodeSize:])
	return nil
}

func putAttempt(a grid.AttemptID) *pb.Attempt {
	return &pb.Attempt{Job: putJob(a.Task.Job), Index: a.Task.Index, Epoch: a.Epoch, N: a.N}
}

func getAttempt(p *pb.Attempt, a *grid.AttemptID) error {
	*a = grid.AttemptID{Task: grid.TaskID{Index: p.GetIndex()}, Attempt: grid.Attempt{Epoch: p.GetEpoch(), N: p.GetN()}}
	return getJob(p.GetJob(), &a.Task.Job)
}

// putAttempts encodes a list in columns, the job once for each run of attempts of the same job.
func (c *Codec) putAttempts(as []grid.AttemptID) *pb.Attempts {
	p := c.emptyAttempts()
	for i := range as {
		a := &as[i]
		if i == 0 || a.Task.Job != as[i-1].Task.Job {
			p.Jobs = appendJob(p.Jobs, a.Task.Job)
			p.Runs = append(p.Runs, 0)
		}
		p.Runs[len(p.Runs)-1]++
		p.Index = append(p.Index, a.Task.Index)
		p.Epoch = append(p.Epoch, a.Epoch)
		p.N = append(p.N, a.N)
	}
	return p
}

func (c *Codec) readAttempts(b []byte, m *grid.Message) error {
	p := c.emptyAttempts()
	if err := parse(b, p); err != nil {
		return err
	}
	return c.attemptsOf(p, m)
}

// attemptsOf decodes the columns.
func (c *Codec) attemptsOf(p *pb.Attempts, m *grid.Message) error {
	n := len(p.Index)
	if len(p.Epoch) != n || len(p.N) != n || len(p.Jobs) != jobSize*len(p.Runs) {
		return fmt.Errorf("attempts: %w: columns of %d, %d and %d, %d bytes of jobs for %d runs",
			ErrMalformed, n, len(p.Epoch), len(p.N), len(p.Jobs), len(p.Runs))
	}
	at := 0
	for i, run := range p.Runs {
		if run == 0 || int64(run) > int64(n-at) {
			return fmt.Errorf("attempts: %w: a run of %d with %d left", ErrMalformed, run, n-at)
		}
		var job grid.JobID
		if err := getJob(p.Jobs[i*jobSize:(i+1)*jobSize], &job); err != nil {
			return err
		}
		for end := at + int(run); at < end; at++ {
			m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: job, Index: p.Index[at]},
				Attempt: grid.Attempt{Epoch: p.Epoch[at], N: p.N[at]}})
		}
	}
	if at != n {
		return fmt.Errorf("attempts: %w: %d beyond the last run", ErrMalformed, n-at)
	}
	m.Started = p.Started && (m.Kind == grid.KindAccept || m.Kind == grid.KindVacate)
	switch m.Kind {
	case grid.KindStartLease:
		if p.Order <= math.MaxUint8 {
			m.Order = uint8(p.Order)
		}
	case grid.KindBeat:
	default:
		return nil
	}
	for _, x := range p.Reports {
		r := grid.Report{At: int(x.At), Queued: x.Queued, Suspended: x.Suspended && !x.Queued, Said: x.Said, Place: x.Place,
			Progress: grid.Progress{Done: x.Done, Total: x.Total, Text: cleanText(x.Text), Rejected: x.Rejected}}
		if x.Suspensions > 0 {
			bid, err := getBid(uint64(x.ByBid))
			r.Suspensions = &grid.Suspensions{Times: x.Suspensions, Stood: time.Duration(x.Stood), Bid: bid}
			if err == nil {
				err = getJob(x.By, &r.Suspensions.By)
			}
			if err != nil {
				return err
			}
		}
		if x.Movable && !x.Queued {
			r.Movable = &grid.Movable{Wait: time.Duration(x.Resumes), Ran: time.Duration(x.Ran), Kept: time.Duration(x.Kept)}
		}
		m.Reports = append(m.Reports, r)
	}
	return nil
}

// putReports encodes what a message says of its attempts.
func putReports(p *pb.Attempts, m *grid.Message) *pb.Attempts {
	p.Started, p.Order = m.Started, uint32(m.Order)
	for i := range m.Reports {
		x, said := &m.Reports[i], &m.Reports[i].Progress
		r := &pb.Report{At: uint32(x.At), Queued: x.Queued, Suspended: x.Suspended, Said: x.Said, Place: x.Place,
			Done: said.Done, Total: said.Total, Text: said.Text, Rejected: said.Rejected}
		if s := x.Suspensions; s != nil {
			r.Suspensions, r.Stood, r.By, r.ByBid = s.Times, int64(s.Stood), putJob(s.By), uint32(s.Bid)
		}
		if v := x.Movable; v != nil {
			r.Movable, r.Resumes, r.Ran, r.Kept = true, int64(v.Wait), int64(v.Ran), int64(v.Kept)
		}
		p.Reports = append(p.Reports, r)
	}
	return p
}

func (c *Codec) emptyAttempts() *pb.Attempts {
	p := &c.attempts
	p.Started, p.Order, p.Reports = false, 0, p.Reports[:0]
	p.Jobs, p.Runs, p.Index, p.Epoch, p.N = p.Jobs[:0], p.Runs[:0], p.Index[:0], p.Epoch[:0], p.N[:0]
	return p
}

func attempts(as []grid.AttemptID, least, most int) error {
	if len(as) < least || len(as) > most {
		return fmt.Errorf("%d attempts: %w: want %d to %d", len(as), ErrBound, least, most)
	}
	for i := range as {
		if as[i].Task.Index >= grid.MaxCount {
			return fmt.Errorf("task %d: %w: want less than %d", as[i].Task.Index, ErrBound, grid.MaxCount)
		}
	}
	return nil
}

// reports checks what a message says of its attempts: each report is about another one, in their order.
func reports(m *grid.Message) error {
	if len(m.Reports) > grid.MaxReports {
		return fmt.Errorf("%d reports: %w: want at most %d", len(m.Reports), ErrBound, grid.MaxReports)
	}
	last := -1
	for i := range m.Reports {
		r := &m.Reports[i]
		if r.At <= last || r.At >= len(m.Attempts) {
			return fmt.Errorf("report about attempt %d: %w: want %d to %d", r.At, ErrBound, last+1, len(m.Attempts)-1)
		}
		if r.Place > grid.MaxPlace {
			return fmt.Errorf("place %d: %w: want at most %d", r.Place, ErrBound, grid.MaxPlace)
		}
		if err := bound(r.Progress.Check()); err != nil {
			return err
		}
		if s := r.Suspensions; s != nil {
			if err := bound(s.Check()); err != nil {
				return err
			}
		}
		if v := r.Movable; v != nil {
			if err := bound(v.Check()); err != nil {
				return err
			}
		}
		last = r.At
	}
	return nil
}

// AttemptSize is the size of an attempt in a request or a key: origin, nonce, index, epoch, number.
const AttemptSize = taskSize + 8

// AppendAttempt appends an attempt as in a request.
func AppendAttempt(b []byte, id grid.AttemptID) []byte {
	b = binary.BigEndian.AppendUint32(appendTask(b, id.Task), id.Epoch)
	return binary.BigEndian.AppendUint32(b, id.N)
}

// AttemptIn returns the attempt at the beginning of a request, which is at least AttemptSize long.
func AttemptIn(b []byte) grid.AttemptID {
	job := grid.JobID{Origin: grid.NodeID(b[:32]), Nonce: [10]byte(b[32:42])}
	return grid.AttemptID{Task: grid.TaskID{Job: job, Index: binary.BigEndian.Uint32(b[42:])},
		Attempt: grid.Attempt{Epoch: binary.BigEndian.Uint32(b[46:]), N: binary.BigEndian.Uint32(b[50:])}}
}
