package v1

import (
	"errors"
	"fmt"

	"skep/grid"
)

// SecretUse is a secret that a job's tasks get.
type SecretUse struct {
	Name string `json:"name" doc:"Its tasks find it in the file of that name in the folder $SKEP_SECRETS, in memory."`
	Env  string `json:"env,omitempty" doc:"Variable that has it, too."`
	From string `json:"from,omitempty" doc:"Of one that another node has set: a node that holds it, by its ID, a beginning of it, or its name. Only where a job is submitted."`
}

// SecretValue sets a secret.
type SecretValue struct {
	Value   []byte         `json:"value" doc:"1 byte to 64 KiB, in Base64."`
	On      []string       `json:"on,omitempty" doc:"Nodes that hold it; this one if left out. Each node here is an ID, a beginning of one, a name, or self."`
	Workers []string       `json:"workers,omitempty" doc:"Nodes that may get it for a task; those that hold it if left out."`
	Anyone  bool           `json:"any_worker,omitempty" doc:"In place of workers: any node may."`
	Origins []SecretOrigin `json:"origins,omitempty" doc:"Whose jobs may use it; those submitted to this node if left out."`
}

// SecretOrigin is whose jobs may use a secret.
type SecretOrigin struct {
	Node string `json:"node"`
	User string `json:"user,omitempty" doc:"Of that node, as it says; any if left out."`
}

// Secret is what is known of a secret, but for its value, which no request returns.
type Secret struct {
	Name    string         `json:"name"`
	Owner   string         `json:"owner" doc:"The node that has set it."`
	Held    bool           `json:"held" doc:"This node holds it."`
	On      []string       `json:"on"`
	Former  []string       `json:"former,omitempty" doc:"Of one of this node: nodes that held it before and could not be told yet to forget what they have."`
	Workers []string       `json:"workers,omitempty"`
	Anyone  bool           `json:"any_worker,omitempty"`
	Origins []SecretOrigin `json:"origins"`
}

// SecretList is the secrets that a node has set or holds, by name.
type SecretList struct {
	Secrets []Secret `json:"secrets"`
}

// secrets sets the secrets of a job. Where one is held by a node that is named, that is its ID.
func (d *TaskData) secrets(g *grid.JobSpec) error {
	var problems []error
	for _, u := range d.Secrets {
		use := grid.SecretUse{Name: u.Name, Env: u.Env}
		if u.From != "" {
			id, err := grid.ParseNodeID(u.From)
			if err != nil { // a name, which the node that the job is submitted to knows
				id = grid.NodeID{}
			}
			use.Holders = []grid.NodeID{id}
		}
		if u.Name == "" {
			problems = append(problems, fmt.Errorf("secrets: %w", errors.New("a secret without a name: want one")))
		}
		g.Secrets = append(g.Secrets, use)
	}
	if len(g.Secrets) > 0 {
		g.Needs.AddFeature(grid.SecretLabel)
	}
	return errors.Join(problems...)
}

// secretsOf are the secrets of a job. Where they are held is not told: who asks may be anybody who sees the job.
func secretsOf(g *grid.JobSpec) (all []SecretUse) {
	for i := range g.Secrets {
		all = append(all, SecretUse{Name: g.Secrets[i].Name, Env: g.Secrets[i].Env})
	}
	return all
}
