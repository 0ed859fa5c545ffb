package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p"
)

// gossipCode matches the code that carries ads: the rules, sealing, opening and coding of digests.
const gossipCode = `skep/gossip\.|wire\.(Seal|Open)|[dD]igest|adCache`

// benchGossip runs five drivers in this process at 50 tasks a second and measures gossip's share with a CPU profile.
func benchGossip(b *testing.B) {
	const nodes, rate, span = 5, 50, 20 * time.Second
	ctx := context.Background()
	var ds []*p2p.Driver
	var join []string
	for i := range nodes {
		d, err := p2p.Open(ctx, p2p.Config{DataDir: b.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Join: join,
			Name: fmt.Sprint("n", i), CPUs: 2 * grid.CPU, Memory: grid.GiB})
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close(ctx)
		token, err := d.Token()
		if err != nil {
			b.Fatal(err)
		}
		ds, join = append(ds, d), []string{token}
	}
	for _, d := range ds {
		for peers := 0; peers < nodes; time.Sleep(20 * time.Millisecond) {
			_ = d.Read(ctx, func(n *node.Node, now grid.Time) { peers = len(n.Peers(now, nil)) })
		}
	}
	file := filepath.Join(b.TempDir(), "cpu")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		b.Fatal(err)
	}
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for i := range int(span.Seconds()) * rate {
		<-tick.C
		d := ds[i%nodes]
		id := grid.JobID{Origin: d.Self()}
		binary.BigEndian.PutUint64(id.Nonce[:], uint64(i))
		spec := &grid.JobSpec{Engine: grid.EngineProcess, Command: []string{"true"}, Count: 1, Retries: 2,
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
		if err := d.Submit(ctx, id, spec); err != nil {
			b.Fatal(err)
		}
	}
	pprof.StopCPUProfile()
	out, err := exec.Command("go", "tool", "pprof", "-top", "-focus", gossipCode, file).CombinedOutput()
	m := regexp.MustCompile(`([\d.]+)% of ([\d.]+m?s) total`).FindSubmatch(out)
	if err != nil || m == nil {
		b.Fatalf("go tool pprof: %v\n%.500s", err, out)
	}
	fmt.Printf("     of %s in five nodes and their tasks' starts\n", m[2])
	share, _ := strconv.ParseFloat(string(m[1]), 64)
	report(b, "gossip at 50 tasks/s in a grid of 5, share of CPU", share, "%", "reported", true)
}
