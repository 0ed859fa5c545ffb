package pages

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestLargePages reserves and allocates in small pieces, and looks into what pages they came.
func TestLargePages(t *testing.T) {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("this system has no large pages to give")
	}
	if room() == 0 {
		t.Skip("address space is counted here")
	}
	before := large(t)
	Reserve(64 << 20)
	var pieces [][]byte
	for range 32 << 10 {
		b := make([]byte, 1<<10)
		b[0] = 1
		pieces = append(pieces, b)
	}
	if got := large(t) - before; got < 2<<10 {
		t.Errorf("of 32 MiB that were reserved for %d KiB more are in large pages: want some", got)
	}
	runtime.KeepAlive(pieces)
}

// large is how much of this process is in large pages, in KiB.
func large(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip("this system does not tell what pages a process has")
	}
	m := regexp.MustCompile(`AnonHugePages:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Skip("this system does not tell what pages a process has")
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReserveTouchesLittle asks for more than it would want to have, behind memory that was used and given back.
func TestReserveTouchesLittle(t *testing.T) {
	used := make([]byte, 32<<20)
	for i := 0; i < len(used); i += 1 << 10 {
		used[i] = 1
	}
	used = nil
	runtime.GC()
	before := resident(t)
	Reserve(1 << 30)
	if got := resident(t) - before; got > 128<<20 {
		t.Errorf("a reservation of 1 GiB took %d MiB: want two pieces of it at most", got>>20)
	}
}

// resident is how much memory this process has, in bytes.
func resident(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system does not tell how much memory a process has")
	}
	n, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return n * os.Getpagesize()
}
