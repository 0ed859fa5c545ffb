package network

import "encoding/binary"

// Checksums of TCP and UDP are left out: streams between nodes are authenticated, so nothing changes on the way, and to
// compute and check one is a pass each over the packet. The kernel that sends says of each packet whether its checksum
// is one of the pseudo-header only; the kernel that receives is told so again, by a header that is made here from the
// packet and not from anything that came with it. Without it a packet is checked as on any link.

// offloadHeader is the length of a struct virtio_net_hdr, which the device has in front of each packet [2].
const offloadHeader = 10

const needsChecksum = 1 // VIRTIO_NET_HDR_F_NEEDS_CSUM

// Protocols, and where their checksums are.
const (
	protocolTCP, checksumTCP = 6, 16
	protocolUDP, checksumUDP = 17, 6
)

// putOffload makes the header of a packet that Parse has accepted: its checksum counts as right if it is of TCP or UDP
// and no fragment.
func putOffload(h *[offloadHeader]byte, packet []byte) {
	*h = [offloadHeader]byte{}
	start, offset := int(packet[0]&0xf)*4, 0
	switch packet[9] {
	case protocolTCP:
		offset = checksumTCP
	case protocolUDP:
		offset = checksumUDP
	default:
		return
	}
	if start+offset+2 > len(packet) || binary.BigEndian.Uint16(packet[6:])&0x3fff != 0 {
		return
	}
	h[0] = needsChecksum
	binary.NativeEndian.PutUint16(h[6:], uint16(start))
	binary.NativeEndian.PutUint16(h[8:], uint16(offset))
}
