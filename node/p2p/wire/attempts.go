package wire

import (
	"fmt"

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
	return nil
}

func (c *Codec) emptyAttempts() *pb.Attempts {
	p := &c.attempts
	p.Jobs, p.Runs, p.Index, p.Epoch, p.N = p.Jobs[:0], p.Runs[:0], p.Index[:0], p.Epoch[:0], p.N[:0]
	return p
}
