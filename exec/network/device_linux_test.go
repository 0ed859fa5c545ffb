//go:build amd64 || arm64

package network

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skep/exec/sandbox"
	"skep/grid"
)

// What a rank sends to one elsewhere comes out of the device with the rank's address, and what is written to the device
// it receives, with a checksum that nobody computed. Once the device is closed the pod has none.
func TestDeviceInAPod(t *testing.T) {
	s, pod, work := strictPod(t)
	if err := Probe(pod); err != nil {
		t.Skip(err)
	}
	d, err := Open(pod, []int{4, 7})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const script = `use Socket; socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; bind($s, sockaddr_in(5000, inet_aton("10.83.0.8")))
		or die; send($s, "hello", 0, sockaddr_in(9, inet_aton("10.83.0.1"))) or die; recv($s, my $b, 100, 0); print "$b\n";
		socket(my $u, AF_INET, SOCK_DGRAM, 0); send($u, "again", 0, sockaddr_in(9, inet_aton("10.83.3.1"))) or die;
		print socket(my $r, AF_INET, SOCK_RAW, 1) ? "raw" : "none", "\n"`
	b, out := begin(t, s, pod, work, script)
	defer b.Close()
	p := next(t, d)
	if string(p[28:]) != "hello" || [4]byte(p[12:16]) != Addr(7).As4() || [4]byte(p[16:20]) != Addr(0).As4() {
		t.Fatalf("packet %q", p)
	}
	answer := packet(protocolUDP, 8+len("there"))
	from, to := Addr(0).As4(), Addr(7).As4()
	copy(answer[12:], from[:])
	copy(answer[16:], to[:])
	answer[8] = 64
	binary.BigEndian.PutUint16(answer[10:], headerSum(answer[:minHeader]))
	binary.BigEndian.PutUint16(answer[20:], 9)
	binary.BigEndian.PutUint16(answer[22:], 5000)
	binary.BigEndian.PutUint16(answer[24:], uint16(8+len("there")))
	binary.BigEndian.PutUint16(answer[26:], 0x1234)
	copy(answer[28:], "there")
	if _, err := d.Write(answer); err != nil {
		t.Fatal(err)
	}
	if p := next(t, d); string(p[28:]) != "again" || [4]byte(p[12:16]) != Addr(4).As4() {
		t.Errorf("packet %q: want that its source is the first rank here", p)
	}
	text, err := io.ReadAll(out)
	if err != nil || string(text) != "there\nnone\n" {
		t.Errorf("the rank says %q, %v", text, err)
	}
	d.Close()
	again, err := Open(pod, []int{4})
	if err != nil {
		t.Fatalf("the device is not gone: %v", err)
	}
	again.Close()
}

// strictPod opens a sandbox, with its folder for work, and a pod in it. Where pods have no network of their own it
// skips the test.
func strictPod(t *testing.T) (s *sandbox.Sandbox, pod *sandbox.Pod, work string) {
	t.Helper()
	dir := t.TempDir()
	work = filepath.Join(dir, "work")
	s, err := sandbox.Open(sandbox.Options{Level: grid.IsolationBasic, Work: work, Dir: filepath.Join(dir, "box"),
		Hidden: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if s.Level() < grid.IsolationStrict {
		t.Skip("not strict here: ", sandbox.Explain(s.Findings()))
	}
	if pod, err = s.NewPod(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pod.Close() })
	return s, pod, work
}

// begin runs a Perl script in the pod, and returns its output.
func begin(t *testing.T, s *sandbox.Sandbox, pod *sandbox.Pod, work, script string) (*sandbox.Box, io.Reader) {
	t.Helper()
	id, err := s.TakeID()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "work", "tmp"} {
		path := filepath.Join(work, "rank", name)
		if err := os.Mkdir(path, 0o711); err != nil {
			t.Fatal(err)
		}
		if id != 0 && name != "" {
			if err := os.Chown(path, int(id), int(id)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	b, err := s.Start(&sandbox.Spec{Folder: "rank", Pod: pod, Command: sandbox.Command{Path: "/usr/bin/perl",
		Dir: "/task/work", Argv: []string{"perl", "-e", script}, Env: []string{"PATH=/usr/bin"}, UID: id, GID: id,
		Files: [3]int{int(null.Fd()), int(w.Fd()), int(w.Fd())}}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(time.Minute))
	return b, r
}

// next is the next packet of IPv4 that a rank sends.
func next(t *testing.T, d *Device) []byte {
	t.Helper()
	d.file.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, MTU)
	for {
		n, err := d.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := Parse(b[:n]); ok {
			return bytes.Clone(b[:n])
		}
	}
}

// headerSum is the checksum of an IPv4 header in which it is 0.
func headerSum(h []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// A probe that fails says what helps.
func TestProbeNamesARemedy(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{os.ErrNotExist, "modprobe tun"}, {os.ErrPermission, "chmod 0666"}} {
		if got := explain(c.err).Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q: want %q in it", got, c.want)
		}
	}
}
