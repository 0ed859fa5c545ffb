package network

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// diagRequest is what a sock_diag socket is asked for: inet_diag_req_v2 of sock_diag(7).
type diagRequest struct {
	family, protocol, extensions, _ uint8
	states                          uint32
	socket                          diagSocket
}

// diagSocket is inet_diag_sockid. Ports and addresses are in the order of the network.
type diagSocket struct {
	port, peerPort [2]byte
	at, peer       [16]byte
	device         uint32
	cookie         [2]uint32
}

// diagAnswer is the beginning of inet_diag_msg.
type diagAnswer struct {
	family, state, timer, retransmitted uint8
	socket                              diagSocket
}

// eachListening calls visit with what listens to TCP in the network of a sock_diag socket, as eachListener does. The
// kernel goes over its listeners only, where for a table of /proc it goes over the places of all connections.
func (c *conn) eachListening(visit func(at netip.AddrPort)) error {
	for _, family := range [...]uint8{unix.AF_INET, unix.AF_INET6} {
		const listens = 10
		x := diagRequest{family: family, protocol: unix.IPPROTO_TCP, states: 1 << listens}
		m := append(newMessage(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP),
			unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x))...)
		err := c.dump(m, func(b []byte) error {
			a := diagAnswer{}
			if copy(unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a)), b) < int(unsafe.Sizeof(a)) {
				return fmt.Errorf("netlink: a socket of %d bytes", len(b))
			}
			at := netip.AddrFrom16(a.socket.at).Unmap()
			if a.family == unix.AF_INET {
				at = netip.AddrFrom4([4]byte(a.socket.at[:4]))
			}
			if at.Is4() || at.IsUnspecified() {
				visit(netip.AddrPortFrom(at, uint16(a.socket.port[0])<<8|uint16(a.socket.port[1])))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
