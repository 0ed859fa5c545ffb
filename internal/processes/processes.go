package processes

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Main is the TestMain of a program's test: with RANK in its environment the binary is the program.
func Main(m *testing.M, program func()) {
	if os.Getenv("RANK") != "" {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Addresses returns so many free addresses. Their ports are below those that systems give to connections and to
// listeners that name none, so that nobody gets one of them who does not ask for it.
func Addresses(t testing.TB, count int) (at []string) {
	t.Helper()
	const lowest, highest, tries = 10_000, 30_000, 1000
	for range tries {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", lowest+rand.IntN(highest-lowest)))
		if err != nil {
			continue
		}
		defer l.Close()
		if at = append(at, l.Addr().String()); len(at) == count {
			return at
		}
	}
	t.Fatalf("%d of %d ports tried are free: want %d", len(at), tries, count)
	return nil
}

// Run runs the program as so many processes, with these shares of the work, and returns what rank 0 prints.
func Run(t testing.TB, size int, shares string, args ...string) string {
	t.Helper()
	at := Addresses(t, size)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	var outs []*strings.Builder
	for r := range size {
		c, out := exec.Command(self, args...), new(strings.Builder)
		c.Env = append(os.Environ(), fmt.Sprint("RANK=", r), fmt.Sprint("WORLD_SIZE=", size),
			"SKEP_PEERS="+strings.Join(at, ","), "SKEP_SHARES="+shares)
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all, outs = append(all, c), append(outs, out)
	}
	for r, c := range all {
		if err := c.Wait(); err != nil {
			t.Fatalf("rank %d: %v: %s", r, err, outs[r])
		}
	}
	return outs[0].String()
}
