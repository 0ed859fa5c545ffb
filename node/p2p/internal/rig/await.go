package rig

import (
	"testing"
	"time"
)

// Timeout bounds what a test waits for.
const Timeout = time.Minute

// Await polls until f holds.
func Await(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(Timeout); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain for %v: %s", Timeout, what)
		}
	}
}
