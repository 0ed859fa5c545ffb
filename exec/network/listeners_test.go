package network

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"
)

// field is an address as the kernel prints it.
func field(at string) string {
	a := netip.MustParseAddrPort(at)
	text, raw := "", a.Addr().AsSlice()
	for ; len(raw) > 0; raw = raw[4:] {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(raw))
	}
	return fmt.Sprintf("%s:%04X", text, a.Port())
}

// Only what listens counts, and of IPv6 only what IPv4 connections reach.
func TestEachListener(t *testing.T) {
	table := "  sl  local_address rem_address   st tx_queue rx_queue\n"
	for i, row := range [][2]string{
		{"10.83.0.2:29500", "0A"}, {"10.83.0.2:29501", "01"}, {"0.0.0.0:80", "0A"}, {"[::]:443", "0A"}, {"[::1]:9", "0A"},
		{"[::ffff:10.83.0.3]:7", "0A"},
	} {
		table += fmt.Sprintf("%4d: %s 00000000:0000 %s 00000000:00000000\n", i, field(row[0]), row[1])
	}
	table += "   9: 0G:50 0 0A\n  10: 00000000 0 0A\n  11: 000000:0050 0 0A\n"
	var got []string
	eachListener([]byte(table), func(at netip.AddrPort) { got = append(got, at.String()) })
	want := []string{"10.83.0.2:29500", "0.0.0.0:80", "[::]:443", "10.83.0.3:7"}
	if !slices.Equal(got, want) {
		t.Errorf("%v: want %v", got, want)
	}
}
