package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSpawn runs `true` through the runner, confined and with all limits, and the same program
// in a bare fork+exec+wait loop, turn by turn in one run. What counts are the ratios, at most 1.6; the
// folder of an attempt is measured by itself, since it is the file system that decides there. TMPDIR
// says where the folders are.
func BenchmarkSpawn(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	r := newRunner(b)
	data := b.TempDir()
	dir := func(i int) string { return filepath.Join(data, fmt.Sprint("attempt-", i)) }
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()

	bare := func(int) error {
		fd := null.Fd()
		pid, err := syscall.ForkExec(path, []string{"true"}, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{fd, fd, fd}})
		if err != nil {
			return err
		}
		_, _, err = wait4(pid)
		return err
	}
	task := func(i int) error {
		p, err := r.Start(Spec{Argv: []string{"true"}, Dir: dir(i), Deny: data,
			Memory: 1 << 30, Timeout: time.Hour, MaxOpen: 1024, MaxFile: 1 << 40})
		if err != nil {
			return err
		}
		if res := p.Wait(); res.Code() != 0 {
			return fmt.Errorf("code %d: %s", res.Code(), res.Error)
		}
		return nil
	}
	kinds := []struct {
		f         func(int) error
		wall, cpu time.Duration
	}{
		{f: bare}, {f: func(i int) error { return r.Prepare(dir(i)) }}, {f: task}, {f: func(i int) error { return Remove(dir(i)) }},
	}
	const batch = 50
	n := 0
	for b.Loop() {
		for k := range kinds {
			cpu, began := cpuTime(), time.Now()
			for i := range batch {
				if err := kinds[k].f(n + i); err != nil {
					b.Fatal(err)
				}
			}
			kinds[k].wall += time.Since(began)
			kinds[k].cpu += cpuTime() - cpu
		}
		n += batch
	}
	ref := kinds[0]
	folderWall, folderCPU := kinds[1].wall+kinds[3].wall, kinds[1].cpu+kinds[3].cpu
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ref.wall.Microseconds())/float64(n), "bare-µs")
	b.ReportMetric(float64(kinds[2].wall)/float64(ref.wall), "wall/bare")
	b.ReportMetric(float64(kinds[2].cpu)/float64(ref.cpu), "cpu/bare")
	b.ReportMetric(float64(kinds[2].wall+folderWall)/float64(ref.wall), "wall+folder/bare")
	b.ReportMetric(float64(kinds[2].cpu+folderCPU)/float64(ref.cpu), "cpu+folder/bare")
	b.ReportMetric(float64(n), "tasks")
}

// cpuTime is what this process and its children have used.
func cpuTime() (sum time.Duration) {
	for _, who := range [...]int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var ru syscall.Rusage
		if syscall.Getrusage(who, &ru) == nil {
			sum += time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
		}
	}
	return sum
}
