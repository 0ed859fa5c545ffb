package order

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/api/client"
	v1 "skep/node/api/v1"
)

// fake is a node that has some jobs, newest first.
type fake []v1.Job

func (f fake) Job(_ context.Context, ref string) (v1.Job, error) {
	for _, j := range f {
		if ref == "last" || strings.HasPrefix(j.ID, ref) {
			return j, nil
		}
	}
	return v1.Job{}, errors.New("job " + ref + ": is not known here")
}

func (f fake) List(context.Context, *client.ListQuery) (v1.JobPage, error) {
	var p v1.JobPage
	for _, j := range f {
		p.Jobs = append(p.Jobs, v1.ListedJob{Job: j})
	}
	return p, nil
}

func id(n byte) string { return grid.JobID{Nonce: [10]byte{n}}.String() }

var jobs = fake{
	{ID: id(3), Name: "prepare", Count: 2, Members: []string{"m"}}, {ID: id(2), Name: "prepare", Count: 2},
	{ID: id(1), Count: 1}, {ID: id(4), Name: "secret", Access: "owner", Count: 1},
}

// Names, the beginnings of IDs and last become whole IDs; of several jobs of a name it is the newest. A job that only
// an input names is waited for as with after_ok.
func TestResolve(t *testing.T) {
	r := Refs{After: []string{"last"}, OK: []string{id(1)[:5]}, texts: []string{id(2) + "/1:out/m=in/m"}}
	if err := r.Parse(); err != nil {
		t.Fatal(err)
	}
	var s v1.Spec
	if err := r.Resolve(context.Background(), jobs, nil, &s); err != nil {
		t.Fatal(err)
	}
	if s.After[0].Job != id(3) || s.After[0].Members[0] != "m" || len(s.AfterOK) != 2 || s.AfterOK[0].Job != id(1) ||
		s.AfterOK[1].Job != id(2) || s.JobInputs[0] != (v1.JobInput{Job: id(2), Task: 1, Path: "out/m", To: "in/m"}) {
		t.Errorf("%+v", s.Order)
	}
	r = Refs{Each: "prepare"}
	s.Count = 2
	if err := r.Resolve(context.Background(), jobs, nil, &s); err != nil || s.AfterEach.Job != id(3) {
		t.Errorf("%+v, %v: want the newest of the name", s.Order, err)
	}
	with := map[string]*v1.Job{"prepare": {ID: id(9), Count: 2}}
	if err := r.Resolve(context.Background(), jobs, with, &s); err != nil || s.AfterEach.Job != id(9) {
		t.Errorf("%+v, %v: want the job of the same file", s.Order, err)
	}
}

func TestRefsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		r    Refs
		want string
	}{
		{Refs{Each: "prepare"}, "has 2 tasks, and this one 1: want as many"},
		{Refs{OK: []string{"secret"}}, "is shown to its owner only"},
		{Refs{OK: []string{"Train 1"}}, "no job of this name"},
		{Refs{OK: []string{"zzzzzz"}}, "is not known here"},
		{Refs{Inputs: []Input{{Job: "prepare", Path: "x", Task: 2}}}, "task 2: it has 2 tasks, 0 to 1"},
	} {
		var s v1.Spec
		if err := c.r.Resolve(context.Background(), jobs, nil, &s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.r, err, c.want)
		}
	}
	for _, text := range []string{"last", ":x", "last:", "last/x:y", "last/100000:y"} {
		r := Refs{texts: []string{text}}
		if err := r.Parse(); err == nil || !strings.Contains(err.Error(), "want JOB[/TASK]:PATH[=NAME]") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each job of a file comes after those that it waits for; a circle is named.
func TestSort(t *testing.T) {
	names := []string{"report", "train", "prepare"}
	of := []Refs{{OK: []string{"train"}, After: []string{"another"}}, {Inputs: []Input{{Job: "prepare"}}}, {}}
	if order, err := Sort(names, of); err != nil || !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("%v, %v", order, err)
	}
	of[2].Each = "report"
	if _, err := Sort(names, of); err == nil ||
		err.Error() != "jobs report after train after prepare after report: wait for each other: want no circle" {
		t.Errorf("a circle: %v", err)
	}
}
