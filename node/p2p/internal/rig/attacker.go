package rig

import (
	"testing"

	"skep/internal/hostile"
)

// Attacker joins a hostile member to the network of a token.
func Attacker(t testing.TB, token string) *hostile.Member {
	t.Helper()
	m, err := hostile.Join(t.Context(), hostile.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}
