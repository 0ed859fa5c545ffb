package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"skep/examples/ranks"
)

func main() {
	n := flag.Int("n", 1024, "unknowns")
	warm := flag.Int("warm-up", 4, "iterations that are not measured")
	iterations := flag.Int("iterations", 100, "iterations that are measured")
	seed := flag.Uint64("seed", 1, "of the equations")
	every := flag.Int("checkpoint", 0, "iterations between two checkpoints; 0: none is written")
	flag.Parse()
	if *n < 1 || *warm < 0 || *iterations < 1 || *every < 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*n, *warm, *iterations, *every, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "jacobi:", err)
		os.Exit(1)
	}
}

func run(n, warm, iterations, every int, seed uint64) error {
	w, err := ranks.Join()
	if err != nil {
		return err
	}
	defer w.Close()
	shares, err := w.Shares(n)
	if err != nil {
		return err
	}
	done, rows, err := ranks.Restart()
	if err != nil {
		return err
	}
	s := newSolver(w, shares, n, seed)
	if done > 0 {
		if err := s.restart(rows); err != nil {
			return fmt.Errorf("checkpoint %d: %w", done, err)
		}
	}
	if err := s.spread(s.current); err != nil {
		return err
	}
	began := time.Now()
	for k := done; k < warm+iterations; k++ {
		if k == warm {
			began = time.Now()
		}
		if err := s.iterate(); err != nil {
			return fmt.Errorf("iteration %d: %w", k, err)
		}
		w.Progress(k+1, warm+iterations)
		if every > 0 && (k+1)%every == 0 && k+1 < warm+iterations {
			if err := ranks.Checkpoint(k+1, shares[w.Rank], s.row); err != nil {
				return err
			}
		}
	}
	measured := warm + iterations - max(warm, done)
	if w.Rank == 0 {
		fmt.Printf("jacobi: %d unknowns, %d ranks, %d iterations of %.3f ms, distance %.3e, checksum %.12e\n", n, w.Size,
			measured, float64(time.Since(began))/float64(measured)/float64(time.Millisecond), s.distance(),
			checksum(s.current))
	}
	return nil
}

// solver is the part of a rank: its rows of a and b, and all of x. The rows of a never move.
type solver struct {
	world         *ranks.World
	shares        []ranks.Share
	a             [][]float64
	b             []float64
	current, next []float64
	buffer        []byte
}

func newSolver(w *ranks.World, shares []ranks.Share, n int, seed uint64) *solver {
	s := &solver{world: w, shares: shares, current: make([]float64, n), next: make([]float64, n),
		buffer: make([]byte, 8*n)}
	own := shares[w.Rank]
	for r := own.From; r < own.To; r++ {
		row, b := equation(n, r, seed)
		s.a, s.b = append(s.a, row), append(s.b, b)
		s.current[r] = b
	}
	return s
}

// row returns an own part of x for a checkpoint. The equations need not be in it: they are made anew.
func (s *solver) row(r int) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(s.current[r]))
}

// restart sets x to that of a checkpoint.
func (s *solver) restart(rows map[int][]byte) error {
	for r := range s.current {
		if len(rows[r]) != 8 {
			return fmt.Errorf("unknown %d has %d bytes: want 8", r, len(rows[r]))
		}
		s.current[r] = math.Float64frombits(binary.LittleEndian.Uint64(rows[r]))
	}
	return nil
}

// equation is row r of a, and of b. The diagonal is greater than the sum of all else in the row, so that the method
// converges (IV.2).
func equation(n, r int, seed uint64) (row []float64, b float64) {
	draw := rand.New(rand.NewPCG(seed, uint64(r)))
	row = make([]float64, n)
	sum := 0.0
	for c := range row {
		row[c] = draw.Float64()*2 - 1
		sum += math.Abs(row[c])
	}
	row[r] = sum + 1
	return row, draw.Float64()*2 - 1
}

// iterate computes x_r' = (b_r − Σ_{c≠r} a_rc x_c) / a_rr for the rows of this rank (IV.1), and has all parts
// broadcast.
func (s *solver) iterate() error {
	from := s.shares[s.world.Rank].From
	for i, row := range s.a {
		sum, r := s.b[i], from+i
		for c, a := range row {
			if c != r {
				sum -= a * s.current[c]
			}
		}
		s.next[r] = sum / row[r]
	}
	s.current, s.next = s.next, s.current
	return s.spread(s.current)
}

// spread has each rank broadcast its part of x, one after the other.
func (s *solver) spread(x []float64) error {
	for root, share := range s.shares {
		part, b := x[share.From:share.To], s.buffer[:8*share.Rows()]
		if len(part) == 0 {
			continue
		}
		if root == s.world.Rank {
			for i, v := range part {
				binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
			}
		}
		if err := s.world.Broadcast(root, b); err != nil {
			return err
		}
		for i := range part {
			part[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return nil
}

// distance is how far the last iteration moved x. The source computes it over the own rows of each rank.
func (s *solver) distance() float64 {
	sum := 0.0
	for r, v := range s.current {
		sum += (v - s.next[r]) * (v - s.next[r])
	}
	return math.Sqrt(sum)
}

// checksum is the sum of x, each unknown with a weight of its own.
func checksum(x []float64) (sum float64) {
	for r, v := range x {
		sum += v * float64(r%97+1)
	}
	return sum
}
