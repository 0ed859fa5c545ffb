package weighed

import (
	"cmp"
	"fmt"

	v1 "skep/node/api/v1"
)

// Verdict says why the node was chosen.
func Verdict(s *v1.Step) string {
	if s.Why == "near tie" {
		return fmt.Sprintf("drawn at random from %d with nearly the same expected end", s.Tied)
	}
	why := map[string]string{"earliest": "its end was expected to be the earliest", "only": "no other node fitted",
		"pulled": "it was idle and asked for work", "kept": "the policy keeps the task for a better node",
		"rule": "the policy names it by a rule other than the earliest end"}[s.Why]
	return "because " + cmp.Or(why, s.Why)
}
