package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
)

// maxUnits bounds the units of a task of the demonstration.
const maxUnits = 1_000_000

// programs are the programs of the demonstration. Each does n units of work, a millisecond or so each, and returns a
// result that can be checked.
var programs = map[string]func(n int) string{"primes": countPrimes, "matrix": multiply, "hash": chainHash}

// classes is the order of the classes.
var classes = []string{"primes", "matrix", "hash"}

// Work does the work of a task and returns its result. The classes are primes, matrix and hash; units are 1 to a
// million.
func Work(class string, units int) (string, error) {
	f, ok := programs[class]
	if !ok || units < 1 || units > maxUnits {
		return "", fmt.Errorf("demo-task %.40s %d: want primes, matrix or hash, and 1 to %d units of work", class, units,
			maxUnits)
	}
	return f(units), nil
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
