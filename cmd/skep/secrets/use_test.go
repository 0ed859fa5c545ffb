package secrets

import (
	"slices"
	"strings"
	"testing"

	v1 "skep/node/api/v1"
)

// What a job says of a secret names it, and may name a node that holds it and a variable. A part that is left empty is
// an error, not one that was left out.
func TestUses(t *testing.T) {
	got, err := Uses("secrets", []string{"db", "db@store1", "token=TOKEN", "key@store1=KEY"})
	want := []v1.SecretUse{{Name: "db"}, {Name: "db", From: "store1"}, {Name: "token", Env: "TOKEN"},
		{Name: "key", From: "store1", Env: "KEY"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	}
	for _, text := range []string{"", "db=", "db@", "@store1", "=DB", "db@=DB"} {
		if _, err := Uses("--secret", []string{text}); err == nil || !strings.Contains(err.Error(), "--secret \"") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
