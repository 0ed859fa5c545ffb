package store

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"skep/grid"
)

const (
	childEnv  = "SKEP_STORE_TEST_CHILD"
	batchSize = 32
)

// child commits batches until it is killed, and prints the number of each once it is acknowledged.
func child(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	boot, err := s.NextBoot(grid.NodeID{1})
	if err != nil {
		os.Exit(1)
	}
	for n := uint32(0); ; n++ {
		if err := s.Commit(crashBatch(uint32(boot), n)); err != nil {
			os.Exit(1)
		}
		binary.Write(os.Stdout, binary.BigEndian, n)
	}
}

// crashBatch returns the n-th batch of a run, of records that state it.
func crashBatch(boot, n uint32) (rs []grid.Record) {
	for i := range uint32(batchSize) {
		r := task(n*batchSize + i)
		r.Entry.ID.Task.Job.Nonce[0] = byte(boot)
		rs = append(rs, r)
	}
	return rs
}

// Whenever a node is killed, every acknowledged batch is there, and any other as a whole or not at all.
func TestKilledWriter(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	acked := map[byte]uint32{}
	for boot := byte(1); boot <= 8; boot++ {
		acked[boot] = runAndKill(t, dir, random.IntN(120))
		s, err := Open(dir)
		if err != nil {
			t.Fatalf("seed %d: after kill %d: %v", seed, boot, err)
		}
		counts := map[byte]map[uint32]int{}
		err = s.Load(func(r *grid.Record) error {
			b, n := r.Entry.ID.Task.Job.Nonce[0], r.Entry.ID.Task.Index/batchSize
			if want := task(r.Entry.ID.Task.Index); r.Entry.Placed != want.Entry.Placed ||
				r.Entry.Result.Error != want.Entry.Result.Error {
				return fmt.Errorf("record %v is damaged", r.Entry.ID)
			}
			if counts[b] == nil {
				counts[b] = map[uint32]int{}
			}
			counts[b][n]++
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for b, n := range acked {
			for i := range n {
				if counts[b][i] != batchSize {
					t.Fatalf("seed %d: batch %d of run %d was acknowledged and has %d of %d records", seed, i, b, counts[b][i],
						batchSize)
				}
			}
			for i, c := range counts[b] {
				if c != batchSize {
					t.Errorf("seed %d: batch %d of run %d has %d of %d records", seed, i, b, c, batchSize)
				}
			}
		}
		s.Close()
	}
	t.Logf("seed %d, acknowledged batches %v", seed, acked)
}

// runAndKill lets a writer acknowledge some batches, kills it in the middle of what follows, and returns the number
// that were acknowledged in all.
func runAndKill(t *testing.T, dir string, batches int) (acked uint32) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	var n uint32
	for acked <= uint32(batches) {
		if err := binary.Read(r, binary.BigEndian, &n); err != nil {
			t.Fatalf("the writer ended by itself: %v, %v", err, cmd.Wait())
		}
		acked = n + 1
	}
	cmd.Process.Kill()
	for { // batches acknowledged meanwhile count too
		if err := binary.Read(r, binary.BigEndian, &n); err != nil {
			break
		}
		acked = n + 1
	}
	io.Copy(io.Discard, r)
	cmd.Wait()
	return acked
}
