package grid

import "slices"

// Bounds of the secrets of a job, and of one secret.
const (
	MaxSecrets      = 8        // of a job
	MaxSecretName   = 64       // bytes of a name
	MaxSecret       = 64 * KiB // bytes of a value
	MaxSecretNodes  = 32       // nodes that hold it, that may get it, or that may use it; more only as all
	MaxSecretsNodes = 80       // nodes that hold the secrets of a job or may get them
	MaxSecretsSize  = 4 * KiB  // bytes of what a job says of its secrets
	MaxEvidence     = 1 + MaxMembers*32 + 64
)

// SecretUse is a secret that a job's tasks get. Where it is and who may get it is filled in by the job's origin when
// the job is submitted. It is what the secret's owner has set; whoever holds the secret goes by its own list.
type SecretUse struct {
	Name string
	Env  string // variable that has it too; "" = the file alone

	Owner   NodeID   // that has set it
	Holders []NodeID // that hold it; any of them hands it out
	Workers []NodeID // that may get it
	Anyone  bool     // any node may get it, in place of Workers
}

// Given is what a worker shows to get the secrets of an attempt: both as in Offer.
type Given struct{ Assigned, Evidence string }

// ValidSecretName reports whether a text can be the name of a secret: that of a file, of letters, digits and "._-", the
// first of them a letter or a digit.
func ValidSecretName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return s != "" && len(s) <= MaxSecretName
}

// Trusts reports whether a node may get all secrets of the job.
func (s *JobSpec) Trusts(node NodeID) bool {
	for i := range s.Secrets {
		if u := &s.Secrets[i]; !u.Anyone && !slices.Contains(u.Workers, node) {
			return false
		}
	}
	return true
}

// Unheld returns the first secret of the job of which no node that holds it is reached; nil = there is none.
func (s *JobSpec) Unheld(reached func(NodeID) bool) *SecretUse {
	for i := range s.Secrets {
		if !slices.ContainsFunc(s.Secrets[i].Holders, reached) {
			return &s.Secrets[i]
		}
	}
	return nil
}

// Secret returns what the job says about a secret of an owner; nil = the job does not use it.
func (s *JobSpec) Secret(owner NodeID, name string) *SecretUse {
	for i := range s.Secrets {
		if u := &s.Secrets[i]; u.Owner == owner && u.Name == name {
			return u
		}
	}
	return nil
}

func (s *JobSpec) checkSecrets(p *problems) {
	if len(s.Secrets) == 0 {
		return
	}
	if len(s.Secrets) > MaxSecrets {
		p.addf("secrets: %d: want at most %d", len(s.Secrets), MaxSecrets)
	}
	names, nodes := map[string]bool{}, 0
	for i := range s.Secrets {
		u := &s.Secrets[i]
		switch {
		case !ValidSecretName(u.Name):
			p.addf("secrets %.80q: want a name of at most %d letters, digits and \"._-\" that begins with a letter or a digit",
				u.Name, MaxSecretName)
		case names[u.Name]:
			p.addf("secrets %s: is in it twice: want each name once", u.Name)
		case u.Env != "" && !ValidVariable(u.Env):
			p.addf("secrets %s: variable %.80q: want a name of letters, digits and _, at most %d, that does not begin with a "+
				"digit or SKEP_", u.Name, u.Env, MaxLabel)
		case u.Env != "" && s.hasVariable(u.Env, i):
			p.addf("secrets %s: variable %s: has a value already: want another one", u.Name, u.Env)
		case len(u.Holders) > MaxSecretNodes || len(u.Workers) > MaxSecretNodes:
			p.addf("secrets %s: %d nodes hold it, %d may get it: want at most %d of each", u.Name, len(u.Holders),
				len(u.Workers), MaxSecretNodes)
		}
		names[u.Name] = true
		nodes += len(u.Holders) + len(u.Workers)
	}
	if nodes > MaxSecretsNodes {
		p.addf("secrets: %d nodes hold them or may get them: want at most %d of all together, or secrets for all workers",
			nodes, MaxSecretsNodes)
	}
	if !s.Needs.HasFeature(SecretLabel) || s.Isolation() < IsolationBasic {
		p.addf("secrets: want needs.labels.%s %s, and isolation basic or strict with it: only tasks in boxes get them",
			SecretLabel, FeatureValue)
	}
	if s.Sealed != "" && !s.Signed {
		p.addf("secrets: want that how its tasks end is signed: a secret is given for a signed assignment only")
	}
	if s.IsGang() {
		p.addf("secrets with gang: ranks of gangs get none: want one or the other")
	}
	if s.Outer.Some() {
		p.addf("secrets of a task of another grid: want none: they stay in their own")
	}
}

// hasVariable reports whether a variable is given to the tasks beside that of the secret at an index.
func (s *JobSpec) hasVariable(name string, at int) bool {
	if slices.ContainsFunc(s.Env, func(v Var) bool { return v.Name == name }) {
		return true
	}
	if s.Array != nil && slices.ContainsFunc(s.Array.Axes, func(x Axis) bool { return x.Name == name }) {
		return true
	}
	return slices.ContainsFunc(s.Secrets[:at], func(u SecretUse) bool { return u.Env == name })
}

// SecretsVariable names the folder in which a task finds its secrets, a file for each.
const SecretsVariable = "SKEP_SECRETS"
