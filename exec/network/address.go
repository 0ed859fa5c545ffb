package network

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"skep/grid"
)

// The network of each attempt is 10.83.0.0/16, in a network namespace that has nothing else but loopback. It is IPv4
// because gloo, NCCL and most MPIs look for an IPv4 address first or only. Addresses depend on the rank alone: what
// keeps attempts apart is that their packets have no way to each other.
const (
	prefix0, prefix1 = 10, 83

	// PrefixBits is the length of the network's prefix.
	PrefixBits = 16

	// perBlock leaves out the last bytes 0 and 251 to 255: old software takes some of them for networks or broadcasts.
	perBlock = 250
)

// Addr is the address of a rank.
func Addr(rank int) netip.Addr {
	if rank < 0 || rank >= grid.MaxRanks {
		panic(fmt.Sprintf("network: rank %d: want 0 to %d", rank, grid.MaxRanks-1))
	}
	return netip.AddrFrom4([4]byte{prefix0, prefix1, byte(rank / perBlock), byte(rank%perBlock + 1)})
}

// Rank is the rank that has an address, among so many ranks; false: none has.
func Rank(a [4]byte, ranks int) (rank int, ok bool) {
	rank = int(a[2])*perBlock + int(a[3]) - 1
	ok = a[0] == prefix0 && a[1] == prefix1 && a[3] >= 1 && a[3] <= perBlock && rank < ranks
	return rank, ok
}

// Ports that a program may not have chosen by itself: below those that Linux gives to connections (32768 to 60999).
const (
	firstPort = 20000
	portCount = 10000
)

// Port is the port of MASTER_PORT: the same for all ranks of an attempt, and most likely another than that of the last
// attempt. Nothing listens there but what rank 0 starts.
func Port(id grid.AttemptID) uint16 {
	h := sha256.New()
	h.Write(id.Task.Job.Origin[:])
	h.Write(id.Task.Job.Nonce[:])
	h.Write(binary.BigEndian.AppendUint32(nil, id.Epoch))
	h.Write(binary.BigEndian.AppendUint32(nil, id.N))
	return firstPort + uint16(binary.BigEndian.Uint32(h.Sum(nil))%portCount)
}

// Env are the variables by which ranks find each other, the same for all of them: MASTER_ADDR and MASTER_PORT [3],
// SKEP_PEERS, the addresses of all ranks in order, with commas between, and, where they reach each other on some ports
// only, SKEP_PORTS, these. RANK, WORLD_SIZE and LOCAL_RANK are not among them.
func Env(id grid.AttemptID, ranks int, only ...uint16) []string {
	var peers strings.Builder
	for r := range ranks {
		if r > 0 {
			peers.WriteByte(',')
		}
		peers.WriteString(Addr(r).String())
	}
	master, ports := Port(id), ""
	for i, p := range only {
		if i == 0 {
			master = p
		} else {
			ports += ","
		}
		ports += strconv.Itoa(int(p))
	}
	vars := []string{"MASTER_ADDR=" + Addr(0).String(), "MASTER_PORT=" + strconv.Itoa(int(master)),
		"SKEP_PEERS=" + peers.String()}
	if ports != "" {
		vars = append(vars, "SKEP_PORTS="+ports)
	}
	return vars
}

// Hosts is the content of /etc/hosts in the boxes of a gang: localhost, and rank0, rank1 … for the ranks.
func Hosts(ranks int) []byte {
	b := []byte("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
	for r := range ranks {
		b = fmt.Appendf(b, "%v rank%d\n", Addr(r), r)
	}
	return b
}
