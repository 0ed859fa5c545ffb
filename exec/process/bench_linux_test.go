package process

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"skep/grid"
)

// BenchmarkBars measures what a box costs a task, against the same task without one, in turn.
func BenchmarkBars(b *testing.B) {
	boxed, bare := newRunner(b), bareRunner(b)
	if !boxed.sandbox.Boxes() {
		b.Skip("no boxes here")
	}
	b.Run("start", func(b *testing.B) { benchStart(b, boxed, bare) })
	b.Run("work", func(b *testing.B) { benchWork(b, boxed, bare) })
}

// BenchmarkFolder makes and removes the folder of an attempt, without a task. Its system calls are those that each task
// costs beyond its start: strace -f -c -e trace=%file,%desc.
func BenchmarkFolder(b *testing.B) {
	for name, r := range map[string]*Runner{"boxed": newRunner(b), "bare": bareRunner(b)} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				dir := filepath.Join(r.work, strconv.Itoa(i))
				if err := r.Prepare(dir, Account{}); err != nil {
					b.Fatal(err)
				}
				if err := r.Remove(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func verdict(pass bool) string {
	if pass {
		return "pass"
	}
	return "MISS"
}

// bar prints a figure with its 95 % interval; it is met when the worse end is inside.
func bar(what string, xs []float64, unit, wanted string, met func(low, high float64) bool) {
	mean, half := interval(xs)
	fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s (± %.3f, %d pairs)\n", what, mean, unit, wanted,
		verdict(met(mean-half, mean+half)), half, len(xs))
}

// interval is the mean and half of its 95 % interval; for the twenty and more pairs of these bars 2.1 is Student's t.
func interval(xs []float64) (mean, half float64) {
	var sum, squares float64
	for _, x := range xs {
		sum += x
	}
	mean = sum / float64(len(xs))
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return mean, 2.1 * math.Sqrt(squares/float64(len(xs)-1)/float64(len(xs)))
}

// benchStart is from the call of Start to its return, when the program has been executed, and to the end of the task.
func benchStart(b *testing.B, boxed, bare *Runner) {
	const pairs = 400
	once := func(r *Runner, network grid.Network) (begun, ended time.Duration) {
		s := spec(b, r, "")
		s.Argv, s.Network = []string{"/bin/true"}, network
		t := time.Now()
		p, err := r.Start(s)
		if err != nil {
			b.Fatal(err)
		}
		begun = time.Since(t)
		p.Wait()
		ended = time.Since(t)
		r.Remove(s.Dir)
		return begun, ended
	}
	for _, network := range []grid.Network{grid.NetworkHost, grid.NetworkNone} {
		var begun, ended [2][]time.Duration
		for range pairs {
			for i, r := range []*Runner{boxed, bare} {
				x, y := once(r, network)
				begun[i], ended[i] = append(begun[i], x), append(ended[i], y)
			}
		}
		more := func(ds [2][]time.Duration) float64 {
			slices.Sort(ds[0])
			slices.Sort(ds[1])
			return float64(ds[0][pairs/2]-ds[1][pairs/2]) / float64(time.Millisecond)
		}
		x, y := more(begun), more(ended)
		if network == grid.NetworkHost {
			fmt.Printf("bar: %-58s %10.3f %-6s bar %-9s %s\n", "start of a boxed task minus unboxed, medians of 400", x, "ms",
				"<= 1", verdict(x <= 1))
		}
		fmt.Printf("     network %v: %.3f ms more to the start, %.3f ms to the end of `true`\n", network, x, y)
	}
}

// benchWork measures the processor time, user and system, of tasks that compute, and that read many files. The tasks
// print it themselves: making the files is not measured. Each pair swaps which of the two goes first.
func benchWork(b *testing.B, boxed, bare *Runner) {
	const before, after = `use Time::HiRes qw(clock); my ($before, $x) = (clock(), ''); `,
		`; printf "%.6f", clock() - $before`
	for _, w := range []struct{ what, script string }{
		{"a loop on the processor", `my $x = 1; for (1..4000000) { $x = ($x * 1103515245 + 12345) % 2147483648 }`},
		{"reading 10,000 files", `for (1..10000) { open(F, ">f$_"); print F "hello $_\n"; close F } $before = clock();
			for my $n (1..12) { for (1..10000) { open(F, "f$_"); $x .= <F>; close F } }`},
	} {
		var ratios []float64
		for k := range 24 {
			var cpu [2]float64
			for i := range cpu {
				i = (i + k) % 2
				r := [...]*Runner{boxed, bare}[i]
				s := spec(b, r, "")
				s.Argv = []string{"perl", "-e", before + w.script + after}
				res, out := run(b, r, s)
				if _, err := fmt.Sscan(out, &cpu[i]); err != nil || res.Code() != 0 {
					b.Fatalf("code %d: %q, %s", res.Code(), out, output(b, s, Stderr))
				}
				r.Remove(s.Dir)
			}
			ratios = append(ratios, cpu[0]/cpu[1])
		}
		bar("CPU of "+w.what+", boxed over unboxed", ratios, "", "<= 1.05",
			func(_, high float64) bool { return high <= 1.05 })
	}
}
