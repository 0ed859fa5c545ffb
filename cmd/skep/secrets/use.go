package secrets

import (
	"strings"

	v1 "skep/node/api/v1"
)

// Uses reads what a job says of the secrets that its tasks get, NAME[@NODE][=ENV] each.
func Uses(texts []string) (all []v1.SecretUse) {
	for _, t := range texts {
		var u v1.SecretUse
		t, u.Env, _ = strings.Cut(t, "=")
		u.Name, u.From, _ = strings.Cut(t, "@")
		all = append(all, u)
	}
	return all
}

// Rows are the lines of a description of a job about its secrets.
func Rows(s *v1.Spec) (rows [][2]string) {
	for _, u := range s.Secrets {
		text := u.Name
		if u.Env != "" {
			text += ", also in $" + u.Env
		}
		rows = append(rows, [2]string{"secret", text})
	}
	return rows
}
