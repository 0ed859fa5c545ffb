//go:build amd64 || arm64

package network

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"
)

// What a rank listens on is seen, and reached from outside in the name of a rank elsewhere; a listener in place of such
// a rank is reached from the pod, at that rank's address.
func TestLoopbackInAPod(t *testing.T) {
	s, pod, work := strictPod(t)
	l, err := OpenLoopback(pod, []int{4, 7})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	declared := []uint16{80, 5000}
	all := []Endpoint{{4, 5001}, {7, 5000}, {7, 5001}} // in the end
	away, err := l.Listen(Endpoint{0, 80}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	const script = `use Socket; $| = 1; sub at { sockaddr_in($_[1], inet_aton("10.83.0.$_[0]")) }
		sub tcp { socket(my $s, AF_INET, SOCK_STREAM, 0) or die; $s }
		my $s = tcp; bind($s, at(8, 5000)) or die; listen($s, 5) or die; my $from = accept(my $c, $s) or die;
		my ($port, $ip) = sockaddr_in($from); print inet_ntoa($ip), "\n"; sysread $c, my $b, 100; print "$b\n";
		my $out = tcp; connect($out, at(1, 80)) or die "$!"; syswrite $out, "hello"; sysread $out, $b, 100; print "$b\n";
		print connect(tcp, at(1, 5000)) ? "" : "refused\n", connect(tcp, at(2, 80)) ? "" : "no way\n"; listen($s, 5);
		my $all = tcp; bind($all, sockaddr_in(80, INADDR_ANY)) and die "a second listener";
		my $any = tcp; bind($any, sockaddr_in(5001, INADDR_ANY)) or die; listen($any, 5); print "all\n"; sleep 60`
	b, out := begin(t, s, pod, work, script)
	defer b.Close()
	want := []Endpoint{{7, 5000}}
	var found []Endpoint
	for end := time.Now().Add(20 * time.Second); !slices.Equal(found, want); {
		if found, err = l.Listening(declared); err != nil || time.Now().After(end) {
			t.Fatalf("%v listen, %v: want %v", found, err, want)
		}
	}
	c, err := l.Dial(0, want[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("in"))
	in, err := away.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text := make([]byte, 5)
	if _, err := io.ReadFull(in, text); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	in.Write([]byte("back"))
	if _, err := l.Dial(0, Endpoint{4, 5000}); err == nil {
		t.Error("a rank that does not listen is reached")
	}
	said := bufio.NewScanner(out)
	for _, want := range []string{"10.83.0.1", "in", "back", "refused", "no way", "all"} {
		if said.Scan(); said.Text() != want {
			t.Fatalf("the rank says %q: want %q", said.Text(), want)
		}
	}
	diag := l.diag
	if diag == nil {
		t.Error("what listens is not asked for by netlink")
	}
	for _, l.diag = range []*os.File{diag, nil} { // the second time by /proc
		if found, err := l.Listening([]uint16{80, 5000, 5001}); err != nil || !slices.Equal(found, all) {
			t.Errorf("%v listen, %v: want %v", found, err, all)
		}
		for port, want := range map[uint16]bool{80: false, 5000: false, 5001: true} {
			if all, err := l.AtAll([]uint16{port}); err != nil || all != want {
				t.Errorf("a rank listens at all addresses on port %d: %v, %v; want %v", port, all, err, want)
			}
		}
	}
	l.diag = diag
	if _, err := l.Listen(Endpoint{1, 80}, true); !errors.Is(err, ErrAllAddresses) {
		t.Errorf("%v: want that a rank is in the way that listens at all addresses", err)
	}
	if _, err := l.Listen(Endpoint{0, 5001}, false); !errors.Is(err, ErrAllAddresses) {
		t.Errorf("%v: want that the port is taken", err)
	}
}
