package gangs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"skep/grid"
)

// TTL is for how long a worker is asked to keep slots.
const TTL = 10 * time.Second

// maxNamed bounds the nodes that a reason names.
const maxNamed = 4

// Why says why the workers of a round did not keep their slots.
func Why(held []Refusal, name func(grid.NodeID) string) string {
	if len(held) == 0 {
		return "not all workers answered in time"
	}
	var parts []string
	for _, r := range held[:min(len(held), maxNamed)] {
		s := fmt.Sprintf("%s %s", name(r.Node), r.Why.Why)
		if r.Holder != (grid.JobID{}) {
			s += " (job " + r.Holder.Short() + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// Lacks says that the nodes have too few free slots for so many ranks, and why some have none.
func Lacks(nodes []grid.GangNode, rooms []int, ranks int, name func(grid.NodeID) string) string {
	free := 0
	for _, n := range rooms {
		free += n
	}
	s := fmt.Sprintf("%d ranks, and %d slots are free", ranks, free)
	named := 0
	for _, n := range nodes {
		if n.Refuses.Why == grid.WhyNone || n.Refuses.Why.Never() || named == maxNamed {
			continue
		}
		s += "; " + name(n.Node) + " " + n.Refuses.Why.String()
		named++
	}
	return s
}

// TooLarge says that the grid, as far as it is known, can never run so many ranks at a time, and how many it could.
func TooLarge(nodes []grid.GangNode, ranks, could int, name func(grid.NodeID) string) string {
	fit := 0
	var s strings.Builder
	for _, n := range nodes {
		if !n.Refuses.Why.Never() && n.Refuses.Why != grid.WhyGone {
			fit++
			continue
		}
		if s.Len() < grid.MaxText {
			fmt.Fprintf(&s, "; %s %s", name(n.Node), n.Refuses.Why)
			if n.Refuses.Detail != "" {
				fmt.Fprintf(&s, " (%s)", n.Refuses.Detail)
			}
		}
	}
	return fmt.Sprintf("nobody can run it: %d ranks, and the nodes known could run %d of them at a time (%d nodes fit%s)",
		ranks, could, fit, s.String())
}

// onPorts says on which ports ranks reach each other.
func onPorts(p *grid.Ports) string {
	var list []string
	for _, port := range p.List() {
		list = append(list, strconv.Itoa(int(port)))
	}
	return "fixed ports only: ranks reach each other on " + strings.Join(list, ", ")
}

// Stopped is the end of a rank that is stopped since another one has ended badly.
func Stopped(by uint32, r *grid.Result) *grid.Result {
	return &grid.Result{Cause: grid.Cancelled, Exit: r.Exit,
		Error: fmt.Sprintf("stopped: rank %d ended with %d", by, r.Exit)}
}

// LostWith is the end of a rank whose gang is lost with another rank.
func LostWith(by uint32, why string) *grid.Result {
	return &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: grid.Clean(fmt.Sprintf("lost: rank %d was lost: %s",
		by, why), grid.MaxText)}
}

// Unused is the end of a rank that the attempt does not use with which the gang ends.
func Unused(ranks uint32) *grid.Result {
	return &grid.Result{Cause: grid.Exited, Error: NotUsed(ranks)}
}

// NotUsed says why a rank of a gang has no worker while others run.
func NotUsed(ranks uint32) string {
	return fmt.Sprintf("not used: the attempt has %d ranks", ranks)
}
