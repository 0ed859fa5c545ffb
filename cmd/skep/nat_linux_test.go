package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// netns is a machine of a small internet: a network namespace. It exists as long as a process in it, and that as long
// as the test.
type netns struct{ pid string }

// do runs a shell script in the machine's network.
func (m netns) do(script string) error {
	if out, err := exec.Command("nsenter", "-t", m.pid, "-n", "sh", "-ec", script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

func (m netns) enter() []string { return []string{"nsenter", "-t", m.pid, "-n"} }

// internet makes two public machines, and two at home, each behind a router that admits nothing and maps every
// connection to another port, so that hole punching fails. It skips the test where that is not possible.
func internet(t *testing.T) (public, home [2]netns) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces want root")
	}
	for _, tool := range []string{"ip", "iptables", "nsenter", "sleep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	need := func(err error) {
		t.Helper()
		if err != nil {
			t.Skip("no network namespaces with a NAT here:", err)
		}
	}
	boot := func() netns {
		t.Helper()
		cmd := exec.Command("sleep", "300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		need(cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		m := netns{strconv.Itoa(cmd.Process.Pid)}
		need(m.do("ip link set lo up"))
		return m
	}
	middle := boot()
	need(middle.do("ip link add hub type bridge; ip link set hub up"))
	plug := func(m netns, name string) {
		t.Helper()
		need(middle.do(fmt.Sprintf("ip link add %[1]s type veth peer name net netns %[2]s; ip link set %[1]s master hub up",
			name, m.pid)))
	}
	for i := range public {
		public[i] = boot()
		plug(public[i], fmt.Sprint("public", i))
		need(public[i].do(fmt.Sprintf("ip addr add 198.51.100.%d/24 dev net; ip link set net up", 1+i)))
		router := boot()
		plug(router, fmt.Sprint("router", i))
		home[i] = boot()
		need(router.do(fmt.Sprintf(`ip link add lan type veth peer name net netns %[1]s
			ip addr add 192.168.%[2]d.1/24 dev lan; ip addr add 198.51.100.%[3]d/24 dev net; ip link set lan up; ip link set net up
			echo 1 > /proc/sys/net/ipv4/ip_forward
			iptables -t nat -A POSTROUTING -o net -j MASQUERADE --random-fully
			iptables -A FORWARD -i net -m conntrack ! --ctstate ESTABLISHED,RELATED -j DROP
			iptables -A INPUT -i net -m conntrack ! --ctstate ESTABLISHED,RELATED -j DROP`, home[i].pid, 1+i, 11+i)))
		need(home[i].do(fmt.Sprintf("ip addr add 192.168.%[1]d.2/24 dev net; ip link set net up; ip route add default via "+
			"192.168.%[1]d.1", 1+i)))
	}
	return public, home
}

// Two machines behind routers join with the line that a public node printed. They are members of jobs and run tasks
// for each other through it, and through another public one when it dies.
func TestNodesBehindRouters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes a small internet")
	}
	public, home := internet(t)
	skep, join := buildSkep(t), ""
	start := func(m netns, name string) *member {
		t.Helper()
		n := &member{skep: skep, dir: dataFolder(t), log: &spool{}, enter: m.enter(),
			args: []string{"--name", name, "--label", "at=" + name, "--no-mdns", "--cpus", "2", "--log-level", "debug"}}
		if join != "" {
			n.args = append(n.args, "--join", join)
		}
		n.start(t)
		if join == "" {
			join = n.join
		}
		return n
	}
	first := start(public[0], "first")
	a, b := start(home[0], "a"), start(home[1], "b")
	connected := func(n *member, name string) bool {
		return strings.Contains(n.run(t, "", "node", "describe", name), "connected\n")
	}
	began := time.Now()
	until(t, "the machines at home talk to each other", func() bool {
		list := a.run(t, "", "node", "list")
		return strings.Contains(list, "\nb ") && strings.Contains(list, "\nfirst ") && connected(a, "b") &&
			connected(a, "first")
	})
	t.Logf("connected after %v", time.Since(began))

	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "data"), []byte(strings.Repeat("brought along, ", 200_000)),
		0o644); err != nil {
		t.Fatal(err)
	}
	job := "command: [sh, -c, 'cat data data > out; wc -c < out']\ninputs: [data]\noutputs: [out]\nneeds: {labels: " +
		"{at: b}}\n"
	if err := os.WriteFile(filepath.Join(work, "job.yaml"), []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(a.run(t, "", "job", "submit", filepath.Join(work, "job.yaml")))
	a.run(t, "", "job", "wait", id)
	a.run(t, "", "job", "get", id, "-o", filepath.Join(work, "got"))
	var size int64
	_ = filepath.Walk(filepath.Join(work, "got"), func(_ string, f os.FileInfo, _ error) error {
		if f != nil && f.Name() == "out" {
			size = f.Size()
		}
		return nil
	})
	if want := int64(2 * 15 * 200_000); size != want {
		t.Errorf("%d bytes of output came back from the other machine at home, want %d", size, want)
	}
	if said := a.run(t, "", "job", "describe",
		id); strings.Count(said[strings.Index(said, "kept by"):strings.Index(said, "class")], ",") != 2 {
		t.Errorf("want a job that three nodes keep, two of them at home:\n%s", said)
	}
	if out := a.run(t, "", "run", "--count", "200", "--", "echo", "x"); strings.Count(out, "x\n") != 200 {
		t.Errorf("200 tasks printed %q", out)
	}

	start(public[1], "second")
	until(t, "both are reached through the second one, too", func() bool {
		return strings.Contains(a.run(t, "", "node", "describe", "self"), "/198.51.100.2/") &&
			strings.Contains(b.run(t, "", "node", "describe", "self"), "/198.51.100.2/")
	})
	first.kill()
	if out := a.run(t, "", "run", "--label", "at=b", "--", "echo", "through the second"); out != "through the second\n" {
		t.Errorf("a task printed %q", out)
	}
}
