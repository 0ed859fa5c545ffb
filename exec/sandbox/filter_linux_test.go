//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skep/grid"
)

// A socket of a pair of datagrams may send to any address: without Landlock to any abstract socket of the machine.
func TestPairsOfSocketsWithoutLandlock(t *testing.T) {
	s := open(t, func(o *Options) { o.Landlock = -1 })
	const script = `perl -e 'use Socket; for (SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM, SOCK_RAW, SOCK_DGRAM | 0x80800) {
		print socketpair(my $a, my $b, AF_UNIX, $_, 0) ? "made " : "not " }'`
	if out, _ := begin(t, s, script, nil).end(); out != "made made not not not " {
		t.Errorf("with the machine's network: %q", out)
	}
	if out, _ := begin(t, s, script, func(x *Spec) { x.Network = grid.NetworkNone }).end(); strings.Contains(out, "not") {
		t.Errorf("with its own: %q", out)
	}
}

// Nothing but the mount of /proc keeps a task from lowering its score.
func TestScoreStaysWithoutLandlock(t *testing.T) {
	s := open(t, func(o *Options) { o.Landlock = -1 })
	out, _ := begin(t, s, `echo 0 >/proc/self/oom_score_adj; echo 0 >/proc/$$/task/$$/../../oom_score_adj; choom -n 0 -p $$ 2>&1
		cat /proc/self/oom_score_adj`, nil).end()
	if !strings.HasSuffix(out, "\n1000\n") {
		t.Errorf("%q", out)
	}
}

// What a thread has open its process has open, so that it is seen.
func TestThreadsHaveTheFilesOfTheirProcess(t *testing.T) {
	s := open(t, nil)
	script := `perl -e '`
	for _, call := range [][3]int{{unix.SYS_UNSHARE, unix.CLONE_FILES},
		{unix.SYS_UNSHARE, unix.CLONE_FILES | unix.CLONE_FS}, {unix.SYS_UNSHARE, unix.CLONE_FS},
		// neither can be without CLONE_SIGHAND
		{unix.SYS_CLONE, unix.CLONE_THREAD}, {unix.SYS_CLONE, unix.CLONE_THREAD | unix.CLONE_FILES},
		{unix.SYS_CLOSE_RANGE, 200, unix.CLOSE_RANGE_UNSHARE}, {unix.SYS_CLOSE_RANGE, 200, 0}} {
		script += fmt.Sprintf(`print syscall(%d, %d, 300, %d, 0, 0) < 0 && $!{EPERM} ? "not " : "made "; `, call[0], call[1],
			call[2])
	}
	if out, _ := begin(t, s, script+"'", nil).end(); out != "not not made not made not made " {
		t.Errorf("%q", out)
	}
}

// Only sockets of the usual families can be made, by whatever number they are asked for.
func TestFamiliesOfSockets(t *testing.T) {
	s := open(t, nil)
	out, _ := begin(t, s, `perl -e 'use Socket; for (1, 2, 10, 16) { print socket(my $s, $_, $_ == 16 ? SOCK_RAW : SOCK_DGRAM, 0) ? "made " : "$! " }
		for (38, 40, 17, 30, 31) { socket(my $s, $_, SOCK_SEQPACKET, 0); print $!{EAFNOSUPPORT} ? "not " : "$! " }'`, nil).end()
	if out != "made made made made not not not not not " {
		t.Errorf("%q", out)
	}
}

// Debuggers take random addresses away; other personalities lead to old parts of the kernel.
func TestPersonalities(t *testing.T) {
	if _, err := exec.LookPath("setarch"); err != nil {
		t.Skip("needs setarch")
	}
	s := open(t, nil)
	if out, end := begin(t, s, `setarch --addr-no-randomize echo made`, nil).end(); out != "made\n" {
		t.Errorf("%q, %v", out, end.Status)
	}
	if out, _ := begin(t, s, `setarch --read-implies-exec echo made 2>&1`, nil).end(); strings.Contains(out, "made") ||
		out == "" {
		t.Errorf("%q", out)
	}
}

// What is let through before all rules must be in none of them, and the filter stays short: older kernels go through it
// at each call.
func TestFrequentCallsHaveNoRule(t *testing.T) {
	for _, name := range frequent {
		for _, rules := range [][]string{forbidden, absent} {
			for _, r := range rules {
				if r == name {
					t.Errorf("%s is let through first, and forbidden", name)
				}
			}
		}
	}
	program, err := filter(1, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(program) > 256 {
		t.Errorf("%d instructions", len(program))
	}
}
