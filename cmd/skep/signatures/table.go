package signatures

import (
	"fmt"
	"io"
	"strings"

	v1 "skep/node/api/v1"
)

// Of more tasks than fewTasks only those are listed whose signatures do not hold, so many at most.
const fewTasks = 20

// Table writes what was found for people.
func Table(w io.Writer, s *v1.Signatures) {
	t := table{s}
	fmt.Fprintf(w, "job\t%s\n", s.Job)
	fmt.Fprintf(w, "checked by\t%s, by what it keeps itself\n", t.node(s.By))
	if !s.Signed {
		fmt.Fprintf(w, "signed\tno\n")
		return
	}
	t.links(w)
	fmt.Fprintf(w, "ends\t%s\n", t.counts())
	var listed []*v1.SignedTask
	for i := range s.Tasks {
		if len(s.Tasks) <= fewTasks || s.Tasks[i].Problem != "" {
			listed = append(listed, &s.Tasks[i])
		}
	}
	if len(listed) == 0 {
		return
	}
	fmt.Fprintf(w, "\nTASK\tATTEMPT\tEND\tSIGNED BY\tGIVEN BY\tPROBLEM\n")
	for i, x := range listed {
		if i == fewTasks {
			fmt.Fprintf(w, "\nand %d more whose signatures do not hold: see --output json, and --task\n", len(listed)-i)
			break
		}
		t.task(w, x)
	}
}

type table struct{ *v1.Signatures }

func (t table) node(id string) string {
	if name := t.Names[id]; name != "" {
		return name + " (" + v1.Short(id) + ")"
	}
	return v1.Short(id)
}

func (t table) nodes(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, t.node(id))
	}
	return strings.Join(out, ", ")
}

// links says what was found of the links that all ends rest on.
func (t table) links(w io.Writer) {
	o, m := t.Origin, t.Members
	switch {
	case o.Problem != "":
		fmt.Fprintf(w, "origin\tFAILS: %s\n", o.Problem)
	case o.NotKept:
		fmt.Fprintf(w, "origin\t%s, which checks this, alone keeps the job: its own signature is not kept once it is over\n",
			t.node(o.Node))
	default:
		fmt.Fprintf(w, "origin\t%s has signed the job, and that it is kept by %s\n", t.node(o.Node), t.nodes(o.Members))
	}
	switch {
	case m.Problem != "":
		fmt.Fprintf(w, "members\tFAILS: %s\n", m.Problem)
	case m.Changes == 0:
		fmt.Fprintf(w, "members\tas the origin has chosen them\n")
	default:
		fmt.Fprintf(w, "members\t%d changes, signed by a majority before and after each: now %s\n", m.Changes,
			t.nodes(m.Nodes))
	}
	switch x := t.Owner; {
	case x == nil:
		fmt.Fprintf(w, "owner\tthis node has heard of none yet\n")
	case x.Problem != "":
		fmt.Fprintf(w, "owner\tFAILS: %s\n", x.Problem)
	case len(x.Voters) == 0:
		fmt.Fprintf(w, "owner\t%s in epoch %d, as the origin, which needs no votes\n", t.node(x.Node), x.Epoch)
	default:
		fmt.Fprintf(w, "owner\t%s in epoch %d, by the votes of %s\n", t.node(x.Node), x.Epoch, t.nodes(x.Voters))
	}
}

// counts says how many ends are signed by whom.
func (t table) counts() string {
	var workers, owners, bad, open int
	for i := range t.Tasks {
		switch x := &t.Tasks[i]; {
		case x.State != "ended":
			open++
		case x.Problem != "":
			bad++
		case x.Worker != "":
			workers++
		default:
			owners++
		}
	}
	text := fmt.Sprintf("%d signed by the workers that ran them", workers)
	for _, x := range []struct {
		n    int
		what string
	}{{owners, "by owners: they ended without a worker"}, {bad, "FAIL"}, {open, "have not ended"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	if !t.Holds() {
		text += "; they rest on what fails above"
	}
	return text
}

func (t table) task(w io.Writer, x *v1.SignedTask) {
	if x.State != "ended" {
		fmt.Fprintf(w, "%d\t-\t%s\t-\t-\t\n", x.Index, x.State)
		return
	}
	end := fmt.Sprintf("%s %d", strings.ReplaceAll(x.Cause, "_", " "), x.Exit)
	switch {
	case x.Problem != "":
		fmt.Fprintf(w, "%d\t%s\t%s\t-\t-\t%s\n", x.Index, x.Attempt, end, x.Problem)
	case x.Worker != "":
		fmt.Fprintf(w, "%d\t%s\t%s\tits worker %s\t%s, epoch %d\t\n", x.Index, x.Attempt, end, t.node(x.Worker),
			t.node(x.Owner), x.Epoch)
	default:
		fmt.Fprintf(w, "%d\t-\t%s\tits owner %s, epoch %d: it ended without a worker\t-\t\n", x.Index, end, t.node(x.Owner),
			x.Epoch)
	}
}
