// Package network is the virtual network of the ranks of a gang: their addresses and names, the TUN device in the
// network namespace of a pod by which their packets leave and enter, and the check of packets from other nodes.
//
// The idea: in each pod the kernel does TCP, UDP and whatever else, with addresses of this package, and routes what is
// for ranks elsewhere into a TUN device. Who reads that carries the packets to the node of the rank, as they are, and
// writes them into its device. Nothing is translated, so any program works that works between machines. DESIGN.md says
// why so.
//
// Sources:
//
//	[1] RFC 791, Internet Protocol, 1981: sections 2.3 and 3.1
//	[2] Documentation/networking/tuntap.rst of the kernel; netlink(7), rtnetlink(7)
//	[3] PyTorch, torch.distributed: environment variable initialization, for RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//	[4] proc_net_tcp.rst of the kernel
package network
