package main

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// benchGang measures how long it takes from the submission of 16 ranks on four nodes until all of them run, over 16
// single tasks that are submitted at once, in boxes of the same level; and the same for a gang that follows another one
// without a pause, before it can be news that the slots are free.
func benchGang(b *testing.B, skep string) {
	if err := gangNetwork(); err != nil {
		b.Skip("no network for ranks of gangs here: ", err)
	}
	const rounds, ranks = 10, "16"
	ms := startSlots(b, skep, 4, 4, 4, 4)
	running := func(flags ...string) time.Duration {
		began := time.Now()
		args := append(append([]string{"run"}, flags...), "--", "sh", "-c", "date +%s%N; sleep 0.5")
		last := int64(0)
		for _, line := range strings.Fields(ms[0].run(b, "", args...)) {
			n, err := strconv.ParseInt(line, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			last = max(last, n)
		}
		return time.Unix(0, last).Sub(began)
	}
	const pause = 2 * time.Second
	var gang, next, single []time.Duration
	for round := range rounds + 1 {
		time.Sleep(pause)
		g, n := running("--ranks", ranks), running("--ranks", ranks)
		time.Sleep(pause)
		s := running("--count", ranks, "--isolation", "strict")
		if round > 0 {
			gang, next, single = append(gang, g), append(next, n), append(single, s)
		}
	}
	ratio := median(gang) / median(single)
	report(b, "16 ranks on 4 nodes, submit to all running, over 16 tasks", ratio, "", "<= 2", ratio <= 2)
	ratio = median(next) / median(single)
	report(b, "the same right after another gang's end", ratio, "", "<= 2", ratio <= 2)
	report(b, "16 ranks on 4 nodes, submit to all running, median", median(gang), "ms", "reported", true)
	benchGangStream(b, ms[0])
}

// benchGangStream measures what two ranks on two nodes send each other, where there is a program for it.
func benchGangStream(b *testing.B, m *member) {
	if _, err := exec.LookPath("perl"); err != nil {
		return
	}
	out := m.run(b, "", "run", "--ranks", "2", "--cpu", "4", "--", "perl", "-e", streamProgram)
	for line := range bytes.Lines([]byte(out)) {
		if what, figure, ok := strings.Cut(strings.TrimSpace(string(line)), ": "); ok {
			n, err := strconv.ParseFloat(figure, 64)
			if err != nil {
				b.Fatal(err)
			}
			report(b, "two ranks on two nodes, "+what, n, "", "reported", true)
		}
	}
}

// streamProgram sends 256 MiB from rank 1 to rank 0, and a byte there and back 1000 times.
const streamProgram = `
use Socket; use IO::Socket::INET; use Time::HiRes "time";
my $at = "$ENV{MASTER_ADDR}:$ENV{MASTER_PORT}"; my $s;
if ($ENV{RANK} == 0) {
	my $l = IO::Socket::INET->new(LocalAddr => $at, Listen => 1, ReuseAddr => 1) or die; $s = $l->accept;
} else {
	for (1 .. 200) { $s = IO::Socket::INET->new(PeerAddr => $at) and last; select undef, undef, undef, 0.05 }
}
setsockopt $s, IPPROTO_TCP, TCP_NODELAY, 1; my ($n, $b) = (256 << 20, "x" x 262144); my $began = time;
if ($ENV{RANK} == 0) { my $got = 0; while ($got < $n) { $got += sysread $s, my $x, 262144 or die }; syswrite $s, "."; }
else { my $sent = 0; while ($sent < $n) { $sent += syswrite $s, $b or die }; sysread $s, my $x, 1;
	printf "MiB/s: %.0f\n", 256 / (time - $began) }
my @t; for (1 .. 1000) { my $t = time;
	if ($ENV{RANK} == 0) { sysread $s, my $x, 1; syswrite $s, "." } else { syswrite $s, "."; sysread $s, my $x, 1 }
	push @t, time - $t }
@t = sort { $a <=> $b } @t; printf "round trip in us: %.0f\n", 1e6 * $t[500] if $ENV{RANK} == 1;
`
