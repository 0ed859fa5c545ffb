package network

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"skep/grid"
)

// Each rank has an address of its own, which tells the rank; no other address does.
func TestAddressesOfRanks(t *testing.T) {
	seen := map[[4]byte]bool{}
	for r := range grid.MaxRanks {
		a := Addr(r).As4()
		if back, ok := Rank(a, grid.MaxRanks); !ok || back != r || seen[a] || a[3] == 0 || a[3] == 255 {
			t.Fatalf("rank %d has %v, which tells %d, %v", r, a, back, ok)
		}
		seen[a] = true
	}
	for _, c := range []struct {
		a     [4]byte
		ranks int
	}{{[4]byte{10, 83, 0, 0}, 4}, {[4]byte{10, 83, 0, 5}, 4}, {[4]byte{10, 83, 0, 251}, 1000}, {[4]byte{10, 84, 0, 1}, 4},
		{[4]byte{127, 0, 0, 1}, 4}, {[4]byte{10, 83, 255, 255}, grid.MaxRanks}} {
		if r, ok := Rank(c.a, c.ranks); ok {
			t.Errorf("%v is rank %d of %d", c.a, r, c.ranks)
		}
	}
}

func TestVariables(t *testing.T) {
	id := grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}
	port := Port(id)
	want := fmt.Sprintf("MASTER_ADDR=10.83.0.1 MASTER_PORT=%d SKEP_PEERS=10.83.0.1,10.83.0.2,10.83.0.3", port)
	if got := strings.Join(Env(id, 3), " "); got != want || port < 20000 || port >= 30000 {
		t.Errorf("%s, want %s", got, want)
	}
	only := strings.Join(Env(id, 2, 500, 70), " ")
	if want := "MASTER_ADDR=10.83.0.1 MASTER_PORT=500 SKEP_PEERS=10.83.0.1,10.83.0.2 SKEP_PORTS=500,70"; only != want {
		t.Errorf("with two ports: %s, want %s", only, want)
	}
	other := id
	other.Task.Index = 7 // another rank's attempt of the same number
	if Port(other) != port {
		t.Error("the port depends on the rank")
	}
	if other.N = 2; Port(other) == port {
		t.Error("the port does not depend on the attempt")
	}
	if longest := len(strings.Join(Env(id, grid.MaxRanks), " ")); longest > 128<<10 {
		t.Errorf("variables of %d bytes", longest)
	}
	if hosts := string(Hosts(2)); !strings.Contains(hosts, "127.0.0.1 localhost\n") ||
		!strings.HasSuffix(hosts, "10.83.0.1 rank0\n10.83.0.2 rank1\n") {
		t.Errorf("%q", hosts)
	}
}

// packet is an IPv4 packet of a protocol with so many bytes after its header of 20.
func packet(protocol byte, payload int) []byte {
	b := make([]byte, minHeader+payload)
	b[0], b[9] = 0x45, protocol
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], []byte{10, 83, 0, 1, 10, 83, 0, 2})
	return b
}

func TestParseChecksLengths(t *testing.T) {
	good := packet(protocolTCP, 40)
	if p, ok := Parse(good); !ok || p.Source != [4]byte{10, 83, 0, 1} || p.Dest != [4]byte{10, 83, 0, 2} {
		t.Errorf("%+v, %v", p, ok)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":          func([]byte) []byte { return nil },
		"half a header":    func(b []byte) []byte { return b[:19] },
		"IPv6":             func(b []byte) []byte { b[0] = 0x65; return b },
		"short header":     func(b []byte) []byte { b[0] = 0x44; return b },
		"header too long":  func(b []byte) []byte { b = b[:24]; b[0], b[3] = 0x47, 24; return b },
		"longer than said": func(b []byte) []byte { return append(b, 0) },
		"shorter":          func(b []byte) []byte { return b[:len(b)-1] },
		"beyond the MTU":   func([]byte) []byte { return packet(protocolTCP, MTU) },
	} {
		if _, ok := Parse(change(bytes.Clone(good))); ok {
			t.Errorf("%s is taken", name)
		}
	}
}

// The header for the kernel points to the checksum of a whole TCP or UDP packet, and never beyond the packet.
func TestOffloadHeader(t *testing.T) {
	for _, c := range []struct {
		name          string
		b             []byte
		start, offset uint16 // 0 = to be checked
	}{
		{"TCP", packet(protocolTCP, 40), 20, 16},
		{"UDP", packet(protocolUDP, 8), 20, 6},
		{"ICMP", packet(1, 40), 0, 0},
		{"cut TCP", packet(protocolTCP, 17), 0, 0},
		{"fragment", func() []byte { b := packet(protocolTCP, 40); b[7] = 1; return b }(), 0, 0},
		{"more fragments", func() []byte { b := packet(protocolTCP, 40); b[6] = 0x20; return b }(), 0, 0},
		{"do not fragment", func() []byte { b := packet(protocolTCP, 40); b[6] = 0x40; return b }(), 20, 16},
	} {
		var h [offloadHeader]byte
		putOffload(&h, c.b)
		start, offset := binary.NativeEndian.Uint16(h[6:]), binary.NativeEndian.Uint16(h[8:])
		if start != c.start || offset != c.offset || (h[0] == needsChecksum) != (c.start > 0) || h[1] != 0 {
			t.Errorf("%s: %v", c.name, h)
		}
	}
}

// Whatever is parsed, the header for the kernel stays inside of the packet and asks for no segments.
func FuzzParse(f *testing.F) {
	f.Add(packet(protocolTCP, 40))
	f.Add(packet(protocolUDP, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, ok := Parse(b); !ok {
			return
		}
		var h [offloadHeader]byte
		putOffload(&h, b)
		end := int(binary.NativeEndian.Uint16(h[6:])) + int(binary.NativeEndian.Uint16(h[8:])) + 2
		if h[0] != 0 && end > len(b) || h[1] != 0 || binary.NativeEndian.Uint16(h[4:]) != 0 {
			t.Errorf("%d bytes get %v", len(b), h)
		}
	})
}
