package network

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
)

// Endpoint is a TCP port at the address of a rank.
type Endpoint struct {
	Rank int
	Port uint16
}

// Compare orders by rank, then port.
func (e Endpoint) Compare(f Endpoint) int {
	return cmp.Or(cmp.Compare(e.Rank, f.Rank), cmp.Compare(e.Port, f.Port))
}

// eachListener calls visit with what listens, by a table of TCP sockets of the kernel (/proc/net/tcp, tcp6) [4]: a line
// for each socket, whose second field is the local address in hexadecimal digits, each four bytes of it as a number of
// the machine's byte order, then the port; the fourth field is the state. An unspecified address is all addresses. Of
// IPv6 only those are told that IPv4 connections reach.
func eachListener(table []byte, visit func(at netip.AddrPort)) {
	const listens = "0A"
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) < 4 || string(f[3]) != listens {
			continue
		}
		address, digits, found := bytes.Cut(f[1], []byte(":"))
		port, err := strconv.ParseUint(string(digits), 16, 16)
		raw := make([]byte, hex.DecodedLen(len(address)))
		if _, wrong := hex.Decode(raw, address); !found || err != nil || wrong != nil || len(raw)%4 != 0 {
			continue
		}
		for at := 0; at < len(raw); at += 4 {
			binary.BigEndian.PutUint32(raw[at:], binary.NativeEndian.Uint32(raw[at:]))
		}
		a, ok := netip.AddrFromSlice(raw)
		if a = a.Unmap(); ok && (a.Is4() || a.IsUnspecified()) {
			visit(netip.AddrPortFrom(a, uint16(port)))
		}
	}
}
