package ranks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// World is all ranks, seen from one.
type World struct {
	Rank, Size int
	peers      []net.Conn // to each other rank
	told       time.Time  // when progress was said last
}

// joinTime bounds how long the others are waited for: they may start later, but not for ever.
const joinTime = 2 * time.Minute

// Join connects this process with all others. Without RANK it is alone.
//
//	RANK         this one's, from 0
//	WORLD_SIZE   how many there are
//	SKEP_PEERS   where each listens, in order, with commas between: an address with a port, or one without
//	MASTER_PORT  the port of those without
func Join() (*World, error) {
	if os.Getenv("RANK") == "" {
		return &World{Size: 1, peers: make([]net.Conn, 1)}, nil
	}
	rank, err := number("RANK")
	if err != nil {
		return nil, err
	}
	size, err := number("WORLD_SIZE")
	if err != nil {
		return nil, err
	}
	at := strings.Split(os.Getenv("SKEP_PEERS"), ",")
	if size < 1 || rank >= size || len(at) != size {
		return nil, fmt.Errorf("RANK %d, WORLD_SIZE %d, SKEP_PEERS of %d addresses: want a rank below the size, and an "+
			"address for each", rank, size, len(at))
	}
	for i, a := range at {
		if !strings.Contains(a, ":") {
			at[i] = net.JoinHostPort(a, os.Getenv("MASTER_PORT"))
		}
	}
	w := &World{Rank: rank, Size: size, peers: make([]net.Conn, size)}
	if err := w.connect(at); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func number(name string) (int, error) {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s %q: want a number from 0", name, os.Getenv(name))
	}
	return n, nil
}

// connect dials the ranks below this one, and accepts those above, each of which says first who it is.
func (w *World) connect(at []string) error {
	l, err := net.Listen("tcp", at[w.Rank])
	if err != nil {
		return err
	}
	defer l.Close()
	end := time.Now().Add(joinTime)
	l.(*net.TCPListener).SetDeadline(end)
	for to := range w.Rank {
		c, err := dial(at[to], end)
		if err != nil {
			return fmt.Errorf("rank %d: %w", to, err)
		}
		w.peers[to] = c
		if _, err := c.Write(binary.BigEndian.AppendUint32(nil, uint32(w.Rank))); err != nil {
			return fmt.Errorf("rank %d: %w", to, err)
		}
	}
	for range w.Size - 1 - w.Rank {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("wait for the ranks above %d: %w", w.Rank, err)
		}
		var who [4]byte
		if _, err := io.ReadFull(c, who[:]); err != nil {
			return err
		}
		from := int(binary.BigEndian.Uint32(who[:]))
		if from <= w.Rank || from >= w.Size || w.peers[from] != nil {
			return fmt.Errorf("rank %d comes to rank %d: want each rank above it once", from, w.Rank)
		}
		w.peers[from] = c
	}
	return nil
}

// dial dials a rank that may not listen yet.
func dial(at string, end time.Time) (net.Conn, error) {
	for {
		c, err := net.DialTimeout("tcp", at, 5*time.Second)
		if err == nil || time.Now().After(end) {
			return c, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Close ends all connections.
func (w *World) Close() {
	for _, c := range w.peers {
		if c != nil {
			c.Close()
		}
	}
}

// Send sends a message to a rank.
func (w *World) Send(to int, b []byte) error {
	if _, err := w.peers[to].Write(b); err != nil {
		return fmt.Errorf("to rank %d: %w", to, err)
	}
	return nil
}

// Receive receives a message of len(b) bytes from a rank.
func (w *World) Receive(from int, b []byte) error {
	if _, err := io.ReadFull(w.peers[from], b); err != nil {
		return fmt.Errorf("from rank %d: %w", from, err)
	}
	return nil
}

// Exchange sends and receives at the same time, so that two ranks can do it with each other whatever the size.
func (w *World) Exchange(with int, out, in []byte) error {
	sent := make(chan error, 1)
	go func() { sent <- w.Send(with, out) }()
	err := w.Receive(with, in)
	return errors.Join(<-sent, err)
}

// Broadcast gives all ranks the bytes of one, along a binomial tree [1, figure IV.5]: of p ranks that are counted from
// the root, v has from v without its lowest set bit, and passes on to v + m for each m, a power of two below that bit,
// while v + m < p. The farthest goes first.
func (w *World) Broadcast(root int, b []byte) error {
	v := (w.Rank - root + w.Size) % w.Size
	at := func(v int) int { return (v + root) % w.Size }
	low := v & -v
	if v > 0 {
		if err := w.Receive(at(v&^low), b); err != nil {
			return err
		}
	} else {
		for low = 1; low < w.Size; low *= 2 {
		}
	}
	for m := low / 2; m > 0; m /= 2 {
		if v+m < w.Size {
			if err := w.Send(at(v+m), b); err != nil {
				return err
			}
		}
	}
	return nil
}
