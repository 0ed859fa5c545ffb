package attack

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"skep/testnet/attack/world"
)

// Report is how a node fared.
type Report struct {
	Environment string // where the node ran
	Landlock    string // the newest version that it might use
	Level       string // that it claims
	Control     bool   // it was told to make no boxes, to show that the attacks are real
	Outcomes    []world.Outcome
	Breaches    []string // what was found changed, ended or left from outside
	Trouble     []string // why something could not be judged
}

// Count is how many attacks went a way.
func (r *Report) Count(s world.State) (n int) {
	for i := range r.Outcomes {
		if r.Outcomes[i].State == s {
			n++
		}
	}
	return n
}

// leastReal is how many attacks at least succeed where there are no boxes: fewer, and they would prove nothing.
const leastReal = 40

// Failures are what the node promised and did not keep. At the level none it promises nothing; the attacks on one
// without boxes have to be real.
func (r *Report) Failures() (bad []string) {
	bad = append(bad, r.Trouble...)
	if r.Level == "none" {
		if n := r.Count(world.Succeeded); r.Control && n < leastReal {
			bad = append(bad, fmt.Sprintf("only %d attacks succeed without boxes: want at least %d, or they prove nothing", n,
				leastReal))
		}
		return bad
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.State == world.Succeeded && !o.Beyond {
			bad = append(bad, o.Attack+" succeeded: "+o.Proof)
		}
	}
	return append(bad, r.Breaches...)
}

// Print writes the counts of each group, and below them what succeeded; all outcomes with all.
func (r *Report) Print(w io.Writer, all bool) {
	fmt.Fprintf(w, "%s, Landlock %s: level %s\n", r.Environment, r.Landlock, r.Level)
	groups := map[string]map[world.State]int{}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		group := (&world.Attack{Name: o.Attack}).Group()
		if groups[group] == nil {
			groups[group] = map[world.State]int{}
		}
		groups[group][o.State]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  attacks on\tall\tsucceeded\trefused\tnot tried\t")
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		n := groups[g]
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t\n", g, n[world.Succeeded]+n[world.Refused]+n[world.Untried],
			n[world.Succeeded], n[world.Refused], n[world.Untried])
	}
	t.Flush()
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if all || o.State == world.Succeeded && r.Level != "none" {
			beyond := ""
			if o.Beyond {
				beyond = " (promised at strict only)"
			}
			fmt.Fprintf(w, "  %-9s %s%s: %s\n", o.State, o.Attack, beyond, o.Proof)
		}
	}
	if r.Level == "none" && !all {
		fmt.Fprintf(w, "  told, as nothing is claimed: %s\n", r.told())
	}
	for i, b := range r.Breaches {
		if !all && r.Level == "none" && i == mostTold {
			fmt.Fprintf(w, "  found from outside: and %d others\n", len(r.Breaches)-i)
			break
		}
		fmt.Fprintln(w, "  found from outside:", b)
	}
	for _, b := range r.Trouble {
		fmt.Fprintln(w, "  could not be judged:", b)
	}
}

// mostTold is how many findings are told where nothing is claimed.
const mostTold = 5

// told names what succeeded: of each group a few, and how many others.
func (r *Report) told() string {
	groups := map[string][]string{}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.State == world.Succeeded {
			group := (&world.Attack{Name: o.Attack}).Group()
			groups[group] = append(groups[group], strings.TrimPrefix(o.Attack, group+"/"))
		}
	}
	var all []string
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		names := groups[g]
		some := strings.Join(names[:min(len(names), mostTold)], ", ")
		if len(names) > mostTold {
			some += fmt.Sprintf(" and %d others", len(names)-mostTold)
		}
		all = append(all, g+": "+some)
	}
	return strings.Join(all, "; ")
}

// Summary writes a line for each report: what was tried where, and how it went.
func Summary(w io.Writer, reports []*Report) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "environment\tLandlock\tlevel\tattacks\tsucceeded\trefused\tnot tried\tfrom outside\tverdict\t")
	for _, r := range reports {
		verdict := "holds"
		switch {
		case len(r.Failures()) > 0:
			verdict = "BROKEN"
		case r.Level == "none":
			verdict = "told"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t\n", r.Environment, r.Landlock, cmp.Or(r.Level, "?"),
			len(r.Outcomes),
			r.Count(world.Succeeded), r.Count(world.Refused), r.Count(world.Untried), len(r.Breaches), verdict)
	}
	t.Flush()
}
