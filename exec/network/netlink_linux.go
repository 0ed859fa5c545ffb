package network

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The few requests that a network needs, over a route netlink socket [2]. Libraries for it open their socket in the
// network namespace of the calling thread; this one was opened in another.

// minRTO is the least time after which TCP sends again what was not acknowledged, in milliseconds. Streams lose
// nothing, but a stream that waits for a packet of its own does so for 200 ms or more; sending again meanwhile would
// double what it then has to carry. Losses of a full queue TCP finds out by later acknowledgements.
const minRTO = 1000

// message is a netlink message under construction.
type message []byte

// native is the byte order of netlink.
var native = binary.NativeEndian

func newMessage(kind, flags uint16) message {
	m := make(message, unix.SizeofNlMsghdr, 256)
	native.PutUint16(m[4:], kind)
	native.PutUint16(m[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	return m
}

// attribute appends one, padded.
func (m message) attribute(kind uint16, value []byte) message {
	m = native.AppendUint16(m, uint16(unix.SizeofRtAttr+len(value)))
	m = native.AppendUint16(m, kind)
	m = append(m, value...)
	for len(m)%4 != 0 {
		m = append(m, 0)
	}
	return m
}

func number(n uint32) []byte { return native.AppendUint32(nil, n) }

// bringUp sets the MTU of an interface and brings it up.
func bringUp(index uint32, mtu uint32) message {
	x := unix.IfInfomsg{Index: int32(index), Flags: unix.IFF_UP, Change: unix.IFF_UP}
	m := append(newMessage(unix.RTM_NEWLINK, 0), unsafe.Slice((*byte)(unsafe.Pointer(&x)), unix.SizeofIfInfomsg)...)
	return m.attribute(unix.IFLA_MTU, number(mtu))
}

// addAddress gives an interface an address, without a route to others.
func addAddress(index uint32, a netip.Addr) message {
	x := unix.IfAddrmsg{Family: unix.AF_INET, Prefixlen: 32, Index: index}
	m := append(newMessage(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL),
		unsafe.Slice((*byte)(unsafe.Pointer(&x)), unix.SizeofIfAddrmsg)...)
	return m.attribute(unix.IFA_LOCAL, a.AsSlice()).attribute(unix.IFA_ADDRESS, a.AsSlice())
}

// addRoute routes the network of an address to an interface. The source of what is sent is the first address that the
// interface was given, unless a program has bound another.
func addRoute(index uint32, a netip.Addr) message {
	x := unix.RtMsg{Family: unix.AF_INET, Dst_len: PrefixBits, Table: unix.RT_TABLE_MAIN, Protocol: unix.RTPROT_STATIC,
		Scope: unix.RT_SCOPE_LINK, Type: unix.RTN_UNICAST}
	m := append(newMessage(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL),
		unsafe.Slice((*byte)(unsafe.Pointer(&x)), unix.SizeofRtMsg)...)
	network := netip.PrefixFrom(a, PrefixBits).Masked().Addr()
	m = m.attribute(unix.RTA_DST, network.AsSlice()).attribute(unix.RTA_OIF, number(index))
	metric := message(nil).attribute(unix.RTAX_RTO_MIN, number(minRTO))
	metric = metric.attribute(unix.RTAX_LOCK, number(1<<unix.RTAX_RTO_MIN)) // or TCP takes no notice of it
	return m.attribute(unix.RTA_METRICS, metric)
}

// conn is a netlink socket.
type conn struct {
	fd       int
	sequence uint32
}

// indexOf is the number of an interface.
func (c *conn) indexOf(name string) (uint32, error) {
	x := unix.IfInfomsg{}
	m := append(newMessage(unix.RTM_GETLINK, 0), unsafe.Slice((*byte)(unsafe.Pointer(&x)), unix.SizeofIfInfomsg)...)
	answer, err := c.exchange(m.attribute(unix.IFLA_IFNAME, append([]byte(name), 0)))
	if err != nil {
		return 0, err
	}
	if len(answer) < unix.SizeofNlMsghdr+unix.SizeofIfInfomsg || native.Uint16(answer[4:]) != unix.RTM_NEWLINK {
		return 0, fmt.Errorf("netlink: an answer of %d bytes", len(answer))
	}
	return native.Uint32(answer[unix.SizeofNlMsghdr+4:]), nil
}

// ask sends a request and returns its error.
func (c *conn) ask(m message) error {
	_, err := c.exchange(m)
	return err
}

// dump sends a request that has many answers, and calls visit with what each has after its header.
func (c *conn) dump(m message, visit func([]byte) error) error {
	if err := c.send(m); err != nil {
		return err
	}
	answer := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(c.fd, answer, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		for b := answer[:n]; len(b) >= unix.SizeofNlMsghdr; {
			size := int(native.Uint32(b))
			if size < unix.SizeofNlMsghdr || size > len(b) {
				return fmt.Errorf("netlink: a message of %d bytes in %d", size, len(b))
			}
			if native.Uint32(b[8:]) == c.sequence {
				switch native.Uint16(b[4:]) {
				case unix.NLMSG_DONE:
					return nil
				case unix.NLMSG_ERROR:
					if size < unix.SizeofNlMsghdr+4 {
						return fmt.Errorf("netlink: an answer of %d bytes", size)
					}
					return syscall.Errno(-int32(native.Uint32(b[unix.SizeofNlMsghdr:])))
				}
				if err := visit(b[unix.SizeofNlMsghdr:size]); err != nil {
					return err
				}
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
}

// send sends a request with a number of its own.
func (c *conn) send(m message) error {
	c.sequence++
	native.PutUint32(m, uint32(len(m)))
	native.PutUint32(m[8:], c.sequence)
	return unix.Sendto(c.fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// exchange sends a request, and returns the first message of its answer. What is left of one is passed over by the
// next: each has its own number.
func (c *conn) exchange(m message) ([]byte, error) {
	if err := c.send(m); err != nil {
		return nil, err
	}
	answer := make([]byte, 16<<10)
	for {
		n, _, err := unix.Recvfrom(c.fd, answer, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n < unix.SizeofNlMsghdr || native.Uint32(answer[8:]) != c.sequence:
			continue
		case native.Uint16(answer[4:]) != unix.NLMSG_ERROR:
			return answer[:n], nil
		case n < unix.SizeofNlMsghdr+4:
			return nil, fmt.Errorf("netlink: an answer of %d bytes", n)
		}
		if errno := -int32(native.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
			return nil, syscall.Errno(errno)
		}
		return answer[:n], nil
	}
}
