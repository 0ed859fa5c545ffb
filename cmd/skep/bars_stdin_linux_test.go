package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// benchStdin sends a file to a task at another node as its standard input, and the same file over a bare stream of
// libp2p between two hosts of this machine with the same layers below, in turns.
func benchStdin(b *testing.B, skep string) {
	const size, rounds = 1 << 30, 3
	name := filepath.Join(b.TempDir(), "input")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		b.Fatal(err)
	}
	ms := []*member{startMember(b, skep, "")}
	ms = append(ms, startMember(b, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(b, ms)
	line := bareLine(b)
	var bare, grid []time.Duration
	before := make([]float64, len(ms))
	for i, m := range ms {
		before[i] = residentMiB(b, m.cmd.Process.Pid)
		forgetPeak(b, m.cmd.Process.Pid)
	}
	var bareCPU, gridCPU time.Duration // wall times of a busy machine favour what has more processes
	for range rounds {
		was := threadTime(b, os.Getpid())
		bare = append(bare, timedOnce(func() { line(name) }))
		bareCPU += threadTime(b, os.Getpid()) - was
		was = threadTime(b, ms[0].cmd.Process.Pid) + threadTime(b, ms[1].cmd.Process.Pid)
		grid = append(grid, timedOnce(func() { gridCPU += sendStdin(b, skep, ms[0], name, size) }))
		gridCPU += threadTime(b, ms[0].cmd.Process.Pid) + threadTime(b, ms[1].cmd.Process.Pid) - was
	}
	grown := 0.0
	for i, m := range ms {
		grown = max(grown, peakMiB(b, m.cmd.Process.Pid)-before[i])
	}
	ratio := median(bare) / median(grid)
	fmt.Printf("     1 GiB: bare stream %.0f ms and %.1f s of CPU, skep run %.0f ms and %.1f s (client and nodes)\n",
		median(bare), bareCPU.Seconds()/rounds, median(grid), gridCPU.Seconds()/rounds)
	report(b, "stdin of 1 GiB to another node over a bare stream", ratio, "", ">= 0.6", ratio >= 0.6)
	byCPU := bareCPU.Seconds() / gridCPU.Seconds()
	report(b, "the same by CPU time, client and nodes over both hosts", byCPU, "", "reported", true)
	report(b, "growth of a node meanwhile, the larger of the two", grown, "MiB", "<= 64", grown <= 64)
}

func timedOnce(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// sendStdin runs a task at the far node that reads a file as its standard input, checks how much came, and returns the
// CPU time of the client.
func sendStdin(tb testing.TB, skep string, m *member, name string, size int64) time.Duration {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command(skep, "--data-dir", m.dir, "run", "--label", "side=far", "--", "wc", "-c")
	cmd.Stdin = f
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != strconv.FormatInt(size, 10) {
		tb.Fatalf("%v: %.200q: want %d bytes counted", err, out, size)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// bareLine connects two hosts of a private network and returns a function that sends a file from one to the other.
func bareLine(tb testing.TB) func(name string) {
	const protocol = "/bare/1"
	open := func() host.Host {
		h, err := libp2p.New(libp2p.PrivateNetwork(make([]byte, 32)), libp2p.Transport(tcp.NewTCPTransport),
			libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
			libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { h.Close() })
		return h
	}
	from, to := open(), open()
	arrived := make(chan int64)
	to.SetStreamHandler(protocol, func(st network.Stream) {
		n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, st, make([]byte, 128<<10))
		st.Close()
		arrived <- n
	})
	if err := from.Connect(context.Background(), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		tb.Fatal(err)
	}
	return func(name string) {
		f, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		st, err := from.NewStream(context.Background(), to.ID(), protocol)
		if err != nil {
			tb.Fatal(err)
		}
		n, err := io.CopyBuffer(st, struct{ io.Reader }{f}, make([]byte, 128<<10))
		st.CloseWrite()
		if got := <-arrived; err != nil || got != n {
			tb.Fatalf("%d of %d bytes arrived, %v", got, n, err)
		}
	}
}

// forgetPeak makes a process forget the peak of its resident memory.
func forgetPeak(tb testing.TB, pid int) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		tb.Fatal(err)
	}
}

// peakMiB returns the peak of a process's resident memory.
func peakMiB(tb testing.TB, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "VmHWM:") })
	kib, err := strconv.ParseFloat(strings.Fields(lines[max(i, 0)])[1], 64)
	if i < 0 || err != nil {
		tb.Fatalf("no peak in %q: %v", text, err)
	}
	return kib / 1024
}

// The short form of the benchmark: both nodes stay as large as they were while 200 MB pass through them.
func TestStdinPassesThroughNodesOfBoundedMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector needs more memory than what it watches")
	}
	const size = 200_000_000
	name := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
	skep := buildSkep(t)
	ms := []*member{startMember(t, skep, "")}
	ms = append(ms, startMember(t, skep, ms[0].join, "--label", "side=far"))
	awaitMembers(t, ms)
	for _, m := range ms {
		forgetPeak(t, m.cmd.Process.Pid)
	}
	before := []float64{residentMiB(t, ms[0].cmd.Process.Pid), residentMiB(t, ms[1].cmd.Process.Pid)}
	sendStdin(t, skep, ms[0], name, size)
	for i, m := range ms {
		if grown := peakMiB(t, m.cmd.Process.Pid) - before[i]; grown > 64 {
			t.Errorf("node %d grew by %.0f MiB: want at most 64", i, grown)
		}
	}
}
