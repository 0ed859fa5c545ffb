//go:build amd64 || arm64

package mesh

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// programVariable makes this binary a program that runs as a rank: it knows RANK, WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT, as many do, and nothing of Skep.
const programVariable = "RANK_PROGRAM"

func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv(programVariable))
	if len(words) == 0 {
		os.Exit(m.Run())
	}
	if err := (map[string]func(words []string) error{"mesh": runMesh, "stream": runStream, "many": runMany,
		"pingpong": runPingPong, "reach": runReach,
		"pour": runPour})[words[0]](words[1:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func variable(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}

func master() string { return net.JoinHostPort(os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT")) }

// dialMaster dials rank 0, which may begin later.
func dialMaster() (c net.Conn, err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err = net.DialTimeout("tcp", master(), 5*time.Second); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// rendezvous tells all ranks where each listens: rank 0 collects it.
func rendezvous(own string) ([]string, error) {
	size := variable("WORLD_SIZE")
	all := make([]string, size)
	if variable("RANK") > 0 {
		c, err := dialMaster()
		if err != nil {
			return nil, err
		}
		defer c.Close()
		fmt.Fprintln(c, variable("RANK"), own)
		line, err := bufio.NewReader(c).ReadString('\n')
		copy(all, strings.Fields(line))
		return all, err
	}
	all[0] = own
	l, err := net.Listen("tcp", master())
	if err != nil {
		return nil, err
	}
	defer l.Close()
	conns := make([]net.Conn, 0, size)
	for range size - 1 {
		c, err := l.Accept()
		if err != nil {
			return nil, err
		}
		defer c.Close()
		var rank int
		var at string
		if _, err := fmt.Fscanln(c, &rank, &at); err != nil {
			return nil, err
		}
		all[rank], conns = at, append(conns, c)
	}
	for _, c := range conns {
		fmt.Fprintln(c, strings.Join(all, " "))
	}
	return all, nil
}

// runMesh connects each rank to each other over ports that the kernel gives, and exchanges a word both ways.
func runMesh([]string) error {
	rank, size := variable("RANK"), variable("WORLD_SIZE")
	l, err := net.Listen("tcp4", ":0")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	all, err := rendezvous(net.JoinHostPort(fmt.Sprint("rank", rank), port))
	if err != nil {
		return fmt.Errorf("rendezvous: %w", err)
	}
	served := make(chan error, size)
	go func() {
		for range size - 1 {
			c, err := l.Accept()
			if err == nil {
				go func() {
					_, err := io.Copy(c, c) // until the other half closes
					c.Close()
					served <- err
				}()
			} else {
				served <- err
			}
		}
	}()
	for to, at := range all {
		if to == rank {
			continue
		}
		word := fmt.Sprintf("%d to %d", rank, to)
		c, err := net.Dial("tcp4", at)
		if err != nil {
			return err
		}
		fmt.Fprint(c, word)
		c.(*net.TCPConn).CloseWrite()
		back, err := io.ReadAll(c)
		if err != nil || string(back) != word {
			return fmt.Errorf("%q came back as %q: %v", word, back, err)
		}
		c.Close()
	}
	for range size - 1 {
		if err := <-served; err != nil {
			return err
		}
	}
	fmt.Println("met", size-1)
	return nil
}

// runStream sends bytes from rank 1 to rank 0, which answers with their sum when the stream is half closed.
func runStream(words []string) error {
	total, _ := strconv.ParseInt(words[0], 10, 64)
	if variable("RANK") == 0 {
		l, err := net.Listen("tcp", master())
		if err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return err
		}
		h := sha256.New()
		n, err := io.Copy(h, c)
		if err != nil {
			return err
		}
		fmt.Fprintf(c, "%d %x\n", n, h.Sum(nil))
		return c.Close()
	}
	c, err := dialMaster()
	if err != nil {
		return err
	}
	chunk := make([]byte, 256<<10)
	rand.NewChaCha8([32]byte{1}).Read(chunk)
	h, began := sha256.New(), time.Now()
	for sent := int64(0); sent < total; sent += int64(len(chunk)) {
		chunk = chunk[:min(int64(len(chunk)), total-sent)]
		h.Write(chunk)
		if _, err := c.Write(chunk); err != nil {
			return err
		}
	}
	c.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(c)
	if want := fmt.Sprintf("%d %x\n", total, h.Sum(nil)); err != nil || string(answer) != want {
		return fmt.Errorf("the other side has %q, want %q: %v", answer, want, err)
	}
	fmt.Println("same", time.Since(began).Microseconds())
	return nil
}

// runMany has so many connections open at a time.
func runMany(words []string) error {
	count, _ := strconv.Atoi(words[0])
	if variable("RANK") == 0 {
		l, err := net.Listen("tcp", master())
		if err != nil {
			return err
		}
		var wait sync.WaitGroup
		for range count {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			wait.Go(func() { io.Copy(c, c); c.Close() })
		}
		wait.Wait()
		return nil
	}
	var all []net.Conn
	for i := range count {
		c, err := dialMaster()
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		all = append(all, c)
	}
	message, back := bytes.Repeat([]byte("x"), 1000), make([]byte, 1000)
	for range 3 {
		for i, c := range all {
			if _, err := c.Write(message); err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
		}
		for i, c := range all {
			if _, err := io.ReadFull(c, back); err != nil || !bytes.Equal(back, message) {
				return fmt.Errorf("connection %d: %v", i, err)
			}
		}
	}
	for _, c := range all {
		c.Close()
	}
	fmt.Println("echoed", len(all))
	return nil
}

// runPingPong exchanges single bytes, and tells the median round trip in nanoseconds.
func runPingPong(words []string) error {
	count, _ := strconv.Atoi(words[0])
	if variable("RANK") == 0 {
		l, err := net.Listen("tcp", master())
		if err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return err
		}
		_, err = io.Copy(c, c)
		return err
	}
	c, err := dialMaster()
	if err != nil {
		return err
	}
	times := pingPong(c, count)
	fmt.Println("median", times.Nanoseconds())
	return c.Close()
}

// runReach reports whether each address of a list can be reached.
func runReach(words []string) error {
	for _, at := range words {
		c, err := net.DialTimeout("tcp", at, 2*time.Second)
		if err == nil {
			c.Close()
		}
		fmt.Println(at, err == nil)
	}
	return nil
}

// runPour sends bytes from rank 1 to rank 0 as fast as they go, and tells the microseconds that took.
func runPour(words []string) error {
	total, _ := strconv.ParseInt(words[0], 10, 64)
	if variable("RANK") == 0 {
		l, err := net.Listen("tcp", master())
		if err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return err
		}
		if err := drain(c, total); err != nil {
			return err
		}
		_, err = c.Write([]byte{1})
		return err
	}
	c, err := dialMaster()
	if err != nil {
		return err
	}
	took, err := pour(c, total)
	fmt.Println("took", took.Microseconds())
	return err
}

const pourChunk = 256 << 10

// pour sends bytes and waits for the answer that they have come.
func pour(c io.ReadWriter, total int64) (time.Duration, error) {
	chunk, began := make([]byte, pourChunk), time.Now()
	for sent := int64(0); sent < total; sent += pourChunk {
		if _, err := c.Write(chunk); err != nil {
			return 0, err
		}
	}
	_, err := io.ReadFull(c, chunk[:1])
	return time.Since(began), err
}

// drain reads so many bytes.
func drain(c io.Reader, total int64) error {
	chunk := make([]byte, pourChunk)
	for total > 0 {
		n, err := c.Read(chunk)
		if err != nil {
			return err
		}
		total -= int64(n)
	}
	return nil
}
