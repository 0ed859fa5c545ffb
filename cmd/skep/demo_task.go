package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/spf13/cobra"
)

// maxDemoWork bounds the units of a task of the demonstration.
const maxDemoWork = 1_000_000

// demoKinds are the programs of the demonstration. Each does n units of work, a millisecond or so each, and returns a
// result that can be checked.
var demoKinds = map[string]func(n int) string{"primes": countPrimes, "matrix": multiply, "hash": chainHash}

// demoClasses is the order of the classes.
var demoClasses = []string{"primes", "matrix", "hash"}

func (a *app) demoTaskCmd() *cobra.Command {
	return &cobra.Command{Use: "demo-task primes|matrix|hash N", Short: "Compute something that can be checked", Hidden: true,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			f, ok := demoKinds[args[0]]
			n, err := strconv.Atoi(args[1])
			if !ok || err != nil || n < 1 || n > maxDemoWork {
				return fmt.Errorf("demo-task %.40q: want primes, matrix or hash, and 1 to %d units of work", args, maxDemoWork)
			}
			_, err = fmt.Fprintln(a.out, f(n))
			return err
		}}
}

// countPrimes counts the primes in n windows of numbers of about a million, by trial division.
func countPrimes(n int) string {
	count := 0
	for i := 1_000_001; i < 1_000_001+n*8000; i += 2 {
		prime := true
		for d := 3; d*d <= i; d += 2 {
			if i%d == 0 {
				prime = false
				break
			}
		}
		if prime {
			count++
		}
	}
	return strconv.Itoa(count)
}

// multiply raises a matrix to the power n+1, in the integers modulo 2^64, and returns its folded entries.
func multiply(n int) string {
	const size = 96
	var a, x, y [size][size]uint64
	for i := range a {
		for j := range a[i] {
			a[i][j] = uint64(i*size+j)*0x9e3779b97f4a7c15 + 1
		}
	}
	x = a
	for range n {
		for i := range y {
			y[i] = [size]uint64{}
			for k := range x[i] {
				for j := range y[i] {
					y[i][j] += x[i][k] * a[k][j]
				}
			}
		}
		x = y
	}
	var sum uint64
	for i := range x {
		for j := range x[i] {
			sum = bits.RotateLeft64(sum, 1) ^ x[i][j]
		}
	}
	return strconv.FormatUint(sum, 16)
}

// chainHash hashes a hash of a hash, 5000 times for each unit.
func chainHash(n int) string {
	var h [sha256.Size]byte
	binary.BigEndian.PutUint64(h[:], uint64(n))
	for range n * 5000 {
		h = sha256.Sum256(h[:])
	}
	return hex.EncodeToString(h[:8])
}
