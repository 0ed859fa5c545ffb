package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"skep/grid"
)

// lan makes machines on one network, each a namespace of its own. It skips where that is not possible.
func lan(tb testing.TB, n int) (all []netns) {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("network namespaces want root")
	}
	for _, tool := range []string{"ip", "tc", "nsenter", "sleep"} {
		if _, err := exec.LookPath(tool); err != nil {
			tb.Skip(err)
		}
	}
	need := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Skip("no network namespaces here: ", err)
		}
	}
	for k := range n + 1 { // the first is the switch
		cmd := exec.Command("sleep", "3600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		need(cmd.Start())
		tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		m := netns{strconv.Itoa(cmd.Process.Pid)}
		need(m.do("ip link set lo up"))
		if all = append(all, m); k == 0 {
			need(m.do("ip link add hub type bridge; ip link set hub up"))
			continue
		}
		need(all[0].do(fmt.Sprintf("ip link add p%[1]d type veth peer name net netns %[2]s; ip link set p%[1]d master hub up",
			k, m.pid)))
		need(m.do(fmt.Sprintf("ip addr add 10.77.0.%d/24 dev net; ip link set net up", k)))
	}
	return all[1:]
}

// slow makes a machine send no more than a rate, as skep testnet slow --rate does for a container.
func (m netns) slow(rate grid.Bytes) error {
	return m.do(fmt.Sprintf("tc qdisc replace dev net root tbf rate %dbit burst %d latency 400ms", 8*rate,
		max(rate/50, 16<<10)))
}

// sent is how many bytes a machine has sent.
func (m netns) sent(tb testing.TB) (n int64) {
	tb.Helper()
	text, err := os.ReadFile("/proc/" + m.pid + "/net/dev")
	if err != nil {
		tb.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); f[0] == "net:" {
			n, err = strconv.ParseInt(f[9], 10, 64)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// dataRun is five jobs of ten tasks of five seconds with an input each, submitted at the first of five nodes of a slot.
// The first two nodes are slow to send.
type dataRun struct{ size, rate grid.Bytes }

// How many nodes there are, and jobs.
const dataNodes, dataJobs = 5, 5

// measure returns how many bytes all nodes have sent, and the time until the last task has ended.
func (d *dataRun) measure(tb testing.TB, skep string, args ...string) (moved int64, makespan time.Duration) {
	tb.Helper()
	var ms []*member
	machines, work, join := lan(tb, dataNodes), tb.TempDir(), ""
	for k, m := range machines {
		n := &member{skep: skep, dir: dataFolder(tb), log: &spool{}, enter: m.enter(),
			args: append([]string{"--no-mdns", "--cpus", "1", "--listen", fmt.Sprintf("/ip4/10.77.0.%d/tcp/0", 1+k)}, args...)}
		if join != "" {
			n.args = append(n.args, "--join", join)
		}
		n.start(tb)
		ms, join = append(ms, n), n.join
	}
	awaitMembers(tb, ms)
	for _, m := range machines[:2] {
		if err := m.slow(d.rate); err != nil {
			tb.Skip(err)
		}
	}
	sent := func() (sum int64) {
		for _, m := range machines {
			sum += m.sent(tb)
		}
		return sum
	}
	before, began := sent(), time.Now()
	var ids [dataJobs]string
	for k := range ids {
		name := filepath.Join(work, fmt.Sprint("data", k))
		b := make([]byte, d.size)
		_, _ = rand.Read(b)
		if err := os.WriteFile(name, b, 0o644); err != nil {
			tb.Fatal(err)
		}
		file := fmt.Sprintf("name: j%d\ncommand: [sh, -c, 'test $(cat data%d | wc -c) = %d; sleep 5']\ncount: 10\n"+
			"inputs: [%s]\n", k, k, d.size, name)
		ids[k] = strings.TrimSpace(ms[0].run(tb, file, "job", "submit", "-"))
	}
	for _, id := range ids {
		ms[0].run(tb, "", "job", "wait", id)
	}
	makespan, moved = time.Since(began), sent()-before
	for _, m := range ms {
		m.stop()
	}
	return moved, makespan
}

// benchData measures what it is worth that tasks go where their inputs are, under xsufferage, over the same policy that
// does not look. The jobs have no members but their origin, whose copies of the inputs
// would be the same on both sides.
func benchData(b *testing.B, skep string) {
	d := dataRun{100e6, 8 << 20}
	blindly, blind := d.measure(b, skep, "--members", "1", "--policy", "sufferage")
	moved, makespan := d.measure(b, skep, "--members", "1", "--policy", "xsufferage")
	fmt.Printf("     blindly %.0f MB in %.1f s, by data %.0f MB in %.1f s\n", float64(blindly)/1e6, blind.Seconds(),
		float64(moved)/1e6, makespan.Seconds())
	bytes, times := float64(moved)/float64(blindly), makespan.Seconds()/blind.Seconds()
	report(b, "50 tasks with 100 MB, 2 of 5 nodes slow: bytes over blind", bytes, "", "<= 0.30", bytes <= 0.3)
	report(b, "50 tasks with 100 MB, 2 of 5 nodes slow: time over blind", times, "", "<= 0.60", times <= 0.6)
}
