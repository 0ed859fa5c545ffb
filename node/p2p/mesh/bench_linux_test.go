//go:build amd64 || arm64

package mesh

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	libp2pnet "github.com/libp2p/go-libp2p/core/network"

	"skep/internal/cputime"
)

// BenchmarkBars compares a stream between two ranks with a bare libp2p stream between the same two nodes, in turn.
func BenchmarkBars(b *testing.B) {
	const rounds, total, trips = 10, 1 << 30, 500
	r, at := boxes(b), sites(b, 2)
	at[0].host.SetStreamHandler("/bench/pour", func(st libp2pnet.Stream) {
		defer st.Close()
		if drain(st, total) == nil {
			st.Write([]byte{1})
		}
	})
	at[0].host.SetStreamHandler("/bench/ping", func(st libp2pnet.Stream) {
		defer st.Close()
		for c := make([]byte, 1); ; {
			if _, err := st.Read(c); err != nil {
				return
			}
			st.Write(c)
		}
	})
	bare := func(protocol string) libp2pnet.Stream {
		st, err := at[1].Open(b.Context(), at[0].id, protocol)
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	g := newGang(b, r, 1, at[0], at[1])
	var cpu, rate, more []float64
	for range rounds {
		before := cputime.Used()
		took, err := pour(bare("/bench/pour"), total)
		if err != nil {
			b.Fatal(err)
		}
		bareCPU := cputime.Used() - before
		_, start := g.cost(fmt.Sprint("pour ", pourChunk)) // of the programs themselves
		out, rankCPU := g.cost(fmt.Sprint("pour ", total))
		rankCPU -= start
		var micros int64
		if _, err := fmt.Sscanf(out[1], "took %d", &micros); err != nil {
			b.Fatal(out)
		}
		cpu = append(cpu, bareCPU.Seconds()/rankCPU.Seconds())
		rate = append(rate, took.Seconds()/(time.Duration(micros)*time.Microsecond).Seconds())

		st := bare("/bench/ping")
		trip := pingPong(st, trips)
		st.Close()
		var nanos int64
		if out := g.run(fmt.Sprint("pingpong ", trips)); len(out[1]) == 0 {
			b.Fatal(out)
		} else if _, err := fmt.Sscanf(out[1], "median %d", &nanos); err != nil {
			b.Fatal(out)
		}
		more = append(more, float64(time.Duration(nanos)-trip)/float64(time.Microsecond))
	}
	bar("stream between ranks over a bare stream: bytes per CPU second", cpu, "", ">= 0.7", 0.7, math.Inf(1))
	bar("stream between ranks over a bare stream: bandwidth", rate, "", ">= 0.7", 0.7, math.Inf(1))
	bar("round trip between ranks minus a bare stream's, medians", more, "us", "<= 200", math.Inf(-1), 200)
	fmt.Printf("     packets: %+v\n", g.members[1].Counts())
}

// cost is run, and returns the processor time of all ranks and of this process.
func (g *gang) cost(program string) (out []string, cpu time.Duration) {
	before := cputime.Used()
	out, cpu = g.measure(program)
	return out, cpu + cputime.Used() - before
}

// bar prints the median of a figure.
func bar(what string, xs []float64, unit, wanted string, least, most float64) {
	slices.Sort(xs)
	x, word := xs[len(xs)/2], "MISS"
	if x >= least && x <= most {
		word = "pass"
	}
	fmt.Printf("bar: %-62s %9.3f %-3s bar %-7s %s (%.3f to %.3f, %d rounds)\n", what, x, unit, wanted, word, xs[0],
		xs[len(xs)-1], len(xs))
}
