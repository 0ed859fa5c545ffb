package grid

import (
	"strings"
	"testing"
)

// A user's name goes to terminals and logs of other nodes: it is bounded and printable.
func TestSubmitterIsPrintable(t *testing.T) {
	for user, ok := range map[string]bool{
		"": true, "ada": true, "Zoë Müller": true, `LAB\ada`: true, "uid 1000": true, strings.Repeat("u", MaxUser): true,
		"a\nb": false, "a\u009b31m": false, "\u202egnp": false, "a\u200bb": false, "\xff": false,
		strings.Repeat("u", MaxUser+1): false,
	} {
		s := JobSpec{Engine: EngineProcess, Command: []string{"true"}, Count: 1, Needs: Needs{Resources: Resources{CPU: CPU}},
			Submitter: Submitter{User: user}}
		if err := s.Check(); (err == nil) != ok {
			t.Errorf("user %+q: %v: want it accepted: %t", user, err, ok)
		}
	}
}
