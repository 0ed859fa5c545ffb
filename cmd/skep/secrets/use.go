package secrets

import (
	"errors"
	"fmt"
	"strings"

	v1 "skep/node/api/v1"
)

// Uses reads what a job says of the secrets that its tasks get, NAME[@NODE][=VARIABLE] each. what is the key or
// flag that errors name.
func Uses(what string, texts []string) (all []v1.SecretUse, err error) {
	for _, t := range texts {
		named, env, variable := strings.Cut(t, "=")
		name, from, node := strings.Cut(named, "@")
		if name == "" || variable && env == "" || node && from == "" {
			err = errors.Join(err, fmt.Errorf("%s %.80q: want NAME, NAME@NODE, NAME=VARIABLE or NAME@NODE=VARIABLE",
				what, t))
			continue
		}
		all = append(all, v1.SecretUse{Name: name, From: from, Env: env})
	}
	return all, err
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
