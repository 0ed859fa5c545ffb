package network

import "encoding/binary"

// MTU is that of the device, in bytes. Packets do not cross a link of any machine but a stream, so they may be nearly
// as large as an IPv4 packet can be: the kernel then does for 64 KiB what it does else for 1500 bytes, as on
// loopback. It is less by what makes a packet, its length and the header of the multiplexer fit into one message of
// Noise, 65,519 bytes.
const MTU = 65_000

const minHeader = 20 // bytes of an IPv4 header without options

// Packet is what is to be known of a packet.
type Packet struct{ Source, Dest [4]byte }

// Parse reads the header of an IPv4 packet [1]: ok reports that version and header length are right, and that the
// packet is exactly as long as it says. What follows the header only the kernel of the receiver's pod reads, which
// has its own checks; nothing in front of the packet, as sizes of segments to cut it into, comes with it.
func Parse(b []byte) (p Packet, ok bool) {
	if len(b) < minHeader || len(b) > MTU || b[0]>>4 != 4 {
		return p, false
	}
	header := int(b[0]&0xf) * 4
	if header < minHeader || header > len(b) || int(binary.BigEndian.Uint16(b[2:])) != len(b) {
		return p, false
	}
	return Packet{Source: [4]byte(b[12:16]), Dest: [4]byte(b[16:20])}, true
}
