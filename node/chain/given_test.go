package chain

import (
	"testing"

	"skep/grid"
)

// Somebody who knows nothing of a job believes that an attempt was given to a worker if all signatures from the origin
// to the assignment are there. Each forged one is refused, and named.
func TestOutsiderChecksAssignment(t *testing.T) {
	w := newWorld()
	first, fourth := grid.Attempt{Epoch: 1, N: 1}, grid.Attempt{Epoch: 4, N: 1}
	votes := w.mandate(4, 1, 1, 2)
	evidence := w.at(0).Evidence(w.at(0).SignGenesis())
	given := func(owner int, a grid.Attempt, mandate string, worker int) grid.Given {
		return grid.Given{Assigned: w.owner(owner, a.Epoch, mandate).Assign(2, a, w.ids[worker]), Evidence: evidence}
	}
	// sybils is a list of members that the origin has not chosen, with votes of its own.
	sybils := *w
	sybils.members = []grid.NodeID{w.ids[0], w.ids[4], w.ids[5]}
	invented := grid.Given{Evidence: sybils.at(4).Evidence(w.at(0).SignGenesis())}
	owner := sybils.at(4)
	owner.Own(4, Mandate([]CastVote{{1, sybils.at(4).Vote(4, w.ids[4])}, {2, sybils.at(5).Vote(4, w.ids[4])}}))
	invented.Assigned = owner.Assign(2, fourth, w.ids[4])
	cut := func(g grid.Given, assigned, evidence int) grid.Given {
		return grid.Given{Assigned: g.Assigned[:assigned], Evidence: g.Evidence[:evidence]}
	}
	good := given(0, first, "", 3)
	for name, c := range map[string]struct {
		given   grid.Given
		attempt grid.Attempt
		task    uint32
		worker  int
		want    Link // 0 = it is believed
	}{
		"by the origin":            {good, first, 2, 3, 0},
		"by a later owner":         {given(1, fourth, votes, 3), fourth, 2, 3, 0},
		"an owner to itself":       {given(1, fourth, votes, 1), fourth, 2, 1, 0},
		"the origin to itself":     {given(0, first, "", 0), first, 2, 0, 0},
		"to another worker":        {good, first, 2, 4, Assignment},
		"of another task":          {good, first, 3, 3, Assignment},
		"of another attempt":       {good, grid.Attempt{Epoch: 1, N: 2}, 2, 3, Assignment},
		"of a later epoch":         {good, fourth, 2, 3, Votes},
		"of no epoch":              {good, grid.Attempt{N: 1}, 2, 3, Votes},
		"by a keeper without vote": {given(1, first, "", 3), first, 2, 3, Votes},
		"by one vote":              {given(1, fourth, w.mandate(4, 1, 1), 3), fourth, 2, 3, Votes},
		"by a worker to itself":    {given(3, first, "", 3), first, 2, 3, Votes},
		"an owner's for another":   {given(1, fourth, votes, 1), fourth, 2, 3, Assignment},
		"by invented members":      {invented, fourth, 2, 4, Genesis},
		"nothing":                  {grid.Given{}, first, 2, 3, Genesis},
		"no evidence":              {cut(good, len(good.Assigned), 0), first, 2, 3, Genesis},
		"evidence cut":             {cut(good, len(good.Assigned), len(evidence)-1), first, 2, 3, Genesis},
		"assignment cut":           {cut(good, len(good.Assigned)-1, len(evidence)), first, 2, 3, Assignment},
		"no assignment":            {cut(good, 0, len(evidence)), first, 2, 3, Assignment},
	} {
		id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: c.task}, Attempt: c.attempt}
		err := CheckGiven(Observer{}, w.ids[5], w.ids[c.worker], id, w.spec, &c.given)
		if c.want == 0 && err != nil || c.want != 0 && link(t, err) != c.want {
			t.Errorf("%s: %v; want the link of the %s to be wrong", name, err, c.want)
		}
	}
	other := *w.spec
	other.Sealed = "another"
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: first}
	if err := CheckGiven(Observer{}, w.ids[5], w.ids[3], id, &other, &good); link(t, err) != Genesis {
		t.Errorf("of another specification: %v", err)
	}
}
