package p2p

import (
	"testing"

	"skep/node/p2p/hostile"
)

// attacker joins a hostile member.
func attacker(t testing.TB, a *member) *hostile.Member {
	t.Helper()
	m, err := hostile.Join(t.Context(), hostile.Options{Token: a.token()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}
