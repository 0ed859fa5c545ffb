package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skep/grid"
	"skep/internal/crash"
	"skep/internal/format1"
	"skep/node/p2p/disk"
)

func convertedJobs() []format1.Job {
	return []format1.Job{legacyJob(1, 10), legacyJob(2, 3), legacyJob(3, 70)}
}

// Lines that convertScript prints.
const (
	linePrepared  = "there is a database of format 1"
	lineConverted = "it is converted"
	lineStopped   = "the node has run and was stopped"
	lineRemoved   = "the copy is removed"
)

// convertScript converts a database, saves a record, closes it and removes the copy.
func convertScript(dir string) error {
	err := format1.Write(filepath.Join(dir, File), legacyOwner, 4, convertedJobs(), unchangedRecords()...)
	if err == nil {
		err = disk.Sync(dir)
	}
	if err != nil {
		return err
	}
	fmt.Println(linePrepared)
	s, err := Open(dir)
	if err != nil {
		return err
	}
	fmt.Println(lineConverted)
	if err := errors.Join(s.Commit([]grid.Record{lateRecord()}), s.Close()); err != nil {
		return err
	}
	fmt.Println(lineStopped)
	if err := RemoveCopy(dir); err != nil {
		return err
	}
	fmt.Println(lineRemoved)
	return nil
}

// lateRecord is the last one in the order of keys.
func lateRecord() grid.Record {
	r := task(1)
	r.Entry.ID.Task.Job.Origin = grid.NodeID{200}
	return r
}

// checkConversion returns a check of what a crash of convertScript leaves: a database as it was, or one converted, and
// then a whole copy until that is removed. Whichever it is, the next start makes the same of it.
func checkConversion(t *testing.T, count map[uint64]int) func(dir string, acked []string) error {
	origin := t.TempDir()
	writeFormat1(t, origin, convertedJobs()...)
	before := mustDump(t, filepath.Join(origin, File))
	want := convertedRecords(convertedJobs())
	return func(dir string, acked []string) error {
		if !slices.Contains(acked, linePrepared) {
			return nil
		}
		now, err := dump(filepath.Join(dir, File))
		if err != nil {
			return err
		}
		format := binary.BigEndian.Uint64([]byte(now["meta "+fmt.Sprintf("%x", formatKey)]))
		count[format]++
		switch {
		case format == 1 && slices.Contains(acked, lineConverted):
			return errors.New("it was converted and is of format 1")
		case format == 1 && !cmp.Equal(now, before):
			return errors.New("it is of format 1 and not as it was:" + cmp.Diff(before, now))
		}
		saved, err := dump(filepath.Join(dir, CopyFile))
		switch {
		case errors.Is(err, os.ErrNotExist) && (format == 1 || slices.Contains(acked, lineStopped)):
		case err != nil:
			return fmt.Errorf("copy beside a database of format %d: %w", format, err)
		case !cmp.Equal(saved, before):
			return errors.New("the copy is not what it was:" + cmp.Diff(before, saved))
		}
		s, err := Open(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		var got []grid.Record
		if err := s.Load(func(r *grid.Record) error { got = append(got, *r); return nil }); err != nil {
			return err
		}
		if n := len(want); len(got) == n+1 && format == 4 {
			got = got[:n] // the record saved since
		} else if slices.Contains(acked, lineStopped) {
			return errors.New("a record that was saved is not there")
		}
		if (s.Converted() != nil) != (format == 1) || !cmp.Equal(got, want) {
			return fmt.Errorf("from format %d it became:%s", format, cmp.Diff(want, got))
		}
		return nil
	}
}

// After a crash of the machine at any call of a conversion, and after a kill of the process there.
func TestPowerLossWhileConverting(t *testing.T) {
	t.Parallel()
	j := crash.Recorded(t, "convert")
	count := map[uint64]int{}
	check := checkConversion(t, count)
	j.Survives(t, crash.Stride(3), check)
	t.Logf("crashes that left format 1: %d, format 4: %d", count[1], count[4])
	if count[1] == 0 || count[4] == 0 {
		t.Error("want both")
	}
	clear(count)
	for n := 0; n < j.Len(); n += crash.Stride(9) {
		dir := t.TempDir()
		acked, err := crash.Kill("convert", dir, n)
		if err == nil {
			err = check(dir, acked)
		}
		if err != nil {
			t.Fatalf("killed at call %d: %v", n, err)
		}
	}
	t.Logf("kills that left format 1: %d, format 4: %d", count[1], count[4])
}
