package main

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"skep/examples/ranks"
)

func main() {
	n := flag.Int("n", 1024, "rows and columns")
	warm := flag.Int("warm-up", 4, "iterations that are not measured")
	iterations := flag.Int("iterations", 100, "iterations that are measured")
	seed := flag.Uint64("seed", 1, "of the first generation")
	every := flag.Int("checkpoint", 0, "iterations between two checkpoints; 0: none is written")
	flag.Parse()
	if *n < 1 || *warm < 0 || *iterations < 1 || *every < 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*n, *warm, *iterations, *every, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "life:", err)
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
	s := newStrip(w, shares, n, func(row []int32, number int) error { return fill(row, number, seed, done, rows) })
	if s.err != nil {
		return s.err
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
	return s.tell(time.Since(began)/time.Duration(measured), measured)
}

// strip is the rows of a rank, with a ghost row above and below, a copy of a neighbour's, and a column of dead cells on
// each side.
type strip struct {
	world        *ranks.World
	rows, n      int
	from         int // the first row, in the mesh
	current      [][]int32
	next         [][]int32
	above, below int // the ranks with the rows beside; −1 = none
	in, out      []byte
	err          error
}

func newStrip(w *ranks.World, shares []ranks.Share, n int, fill func(row []int32, number int) error) *strip {
	own := shares[w.Rank]
	s := &strip{world: w, rows: own.Rows(), n: n, from: own.From, above: -1, below: -1, in: make([]byte, 4*n),
		out: make([]byte, 4*n)}
	for r, share := range shares { // a rank without rows is nobody's neighbour
		switch {
		case share.Rows() == 0 || s.rows == 0:
		case r < w.Rank:
			s.above = r
		case r > w.Rank && s.below < 0:
			s.below = r
		}
	}
	for r := range s.rows + 2 {
		s.current, s.next = append(s.current, make([]int32, n+2)), append(s.next, make([]int32, n+2))
		if row := own.From + r - 1; row >= 0 && row < n && s.rows > 0 {
			s.err = cmp.Or(s.err, fill(s.current[r], row))
		}
	}
	return s
}

// fill fills a row of the first generation, or of the one of a checkpoint after so many.
func fill(row []int32, number int, seed uint64, done int, rows map[int][]byte) error {
	b := rows[number]
	switch {
	case done == 0:
		first(row, number, seed)
		return nil
	case len(b) != len(row)-2:
		return fmt.Errorf("checkpoint %d: row %d has %d cells: want %d", done, number, len(b), len(row)-2)
	}
	for c := range b {
		row[c+1] = int32(b[c])
	}
	return nil
}

// row returns one of the own rows for a checkpoint, by its number in the mesh.
func (s *strip) row(number int) []byte {
	row := s.current[number-s.from+1]
	b := make([]byte, s.n)
	for c := range b {
		b[c] = byte(row[c+1])
	}
	return b
}

// first fills a row of the first generation, which depends on nothing but its number.
func first(row []int32, number int, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, uint64(number)))
	for c := 1; c < len(row)-1; c++ {
		row[c] = int32(draw.IntN(2))
	}
}

// iterate computes the next generation, then exchanges its outer rows with the ranks above and below, one after the
// other [1].
func (s *strip) iterate() error {
	for r := 1; r <= s.rows; r++ {
		live(s.next[r], s.current[r-1], s.current[r], s.current[r+1])
	}
	s.current, s.next = s.next, s.current
	if s.above >= 0 {
		if err := s.exchange(s.above, s.current[1], s.current[0]); err != nil {
			return err
		}
	}
	if s.below >= 0 {
		return s.exchange(s.below, s.current[s.rows], s.current[s.rows+1])
	}
	return nil
}

// live sets a row by the rule: a dead cell with three live neighbours comes to life, a live one with two or three
// stays.
func live(next, above, row, below []int32) {
	for c := 1; c < len(row)-1; c++ {
		count := above[c-1] + above[c] + above[c+1] + row[c-1] + row[c+1] + below[c-1] + below[c] + below[c+1]
		next[c] = 0
		if count == 3 || count == 2 && row[c] == 1 {
			next[c] = 1
		}
	}
}

func (s *strip) exchange(with int, own, ghost []int32) error {
	for c := range s.n {
		binary.LittleEndian.PutUint32(s.out[4*c:], uint32(own[c+1]))
	}
	if err := s.world.Exchange(with, s.out, s.in); err != nil {
		return err
	}
	for c := range s.n {
		ghost[c+1] = int32(binary.LittleEndian.Uint32(s.in[4*c:]))
	}
	return nil
}

// checksum is a sum over rows, so that it does not depend on who has them.
func (s *strip) checksum() (sum uint64) {
	for r := 1; r <= s.rows; r++ {
		sum += rowSum(s.from+r-1, s.current[r])
	}
	return sum
}

func rowSum(number int, row []int32) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(number)))
	for c := 1; c < len(row)-1; c++ {
		h.Write([]byte{byte(row[c])})
	}
	return h.Sum64()
}

// tell has rank 0 print the slowest rank's time of an iteration and the checksum of the mesh.
func (s *strip) tell(iteration time.Duration, iterations int) error {
	w, message := s.world, make([]byte, 16)
	sum := s.checksum()
	if w.Rank > 0 {
		binary.LittleEndian.PutUint64(message, sum)
		binary.LittleEndian.PutUint64(message[8:], uint64(iteration))
		return w.Send(0, message)
	}
	for r := 1; r < w.Size; r++ {
		if err := w.Receive(r, message); err != nil {
			return err
		}
		sum += binary.LittleEndian.Uint64(message)
		iteration = max(iteration, time.Duration(binary.LittleEndian.Uint64(message[8:])))
	}
	fmt.Printf("life: %d x %d cells, %d ranks, %d iterations of %.3f ms, checksum %016x\n", s.n, s.n, w.Size, iterations,
		float64(iteration)/float64(time.Millisecond), sum)
	return nil
}
