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

// OptionHead is the head of the column of options, with a tab before it; "" where the job has none.
func OptionHead(s *v1.Step) string {
	if len(s.Nodes) == 0 || s.Nodes[0].Option == nil {
		return ""
	}
	return "\toption"
}

// OptionCell is the option as which a task would run at a node, with a tab before it; "" where the job has none.
func OptionCell(n *v1.Considered) string {
	if n.Option == nil {
		return ""
	}
	return fmt.Sprintf("\t%d", *n.Option)
}

// OptionOf is the option as which a task runs or ran; "-" if that is not known.
func OptionOf(t *v1.Task) string {
	if t.Option == nil {
		return "-"
	}
	return fmt.Sprint(*t.Option)
}
