package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"skep/internal/format1"
)

// BenchmarkConvert converts a job of 100,000 tasks; of-commit is the time that one Commit of its converted records
// takes, as a part of that.
func BenchmarkConvert(b *testing.B) {
	const tasks = 100_000
	jobs := []format1.Job{legacyJob(2, tasks)}
	records := convertedRecords(jobs)
	raw := filepath.Join(b.TempDir(), File)
	if err := format1.Write(raw, legacyOwner, 4, jobs, unchangedRecords()...); err != nil {
		b.Fatal(err)
	}
	old, err := os.ReadFile(raw)
	if err != nil {
		b.Fatal(err)
	}
	var convert, commit time.Duration
	for b.Loop() {
		start := time.Now()
		if err := open(b, b.TempDir()).Commit(records); err != nil {
			b.Fatal(err)
		}
		commit += time.Since(start)
		dir := b.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), old, 0o600); err != nil {
			b.Fatal(err)
		}
		s := open(b, dir)
		if c := s.Converted(); c == nil || c.Tasks != tasks {
			b.Fatalf("converted %+v", c)
		}
		convert += s.Converted().Took
		s.Close()
	}
	b.ReportMetric(commit.Seconds()/convert.Seconds(), "of-commit")
	b.ReportMetric(float64(b.N)*tasks/convert.Seconds(), "tasks/s")
}
