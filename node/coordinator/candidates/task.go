package candidates

import (
	"iter"
	"slices"
	"time"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
	"skep/node/exclusion"
	"skep/node/peers"
)

// Task is what was learnt of nodes while a task is placed, and its decision under way.
type Task struct {
	exclusion.Set
	Poll
	Demotions exclusion.Demotions
	Vain      exclusion.VainPulls
	Reclaims  uint8 // times that it was reclaimed as a straggler

	outweighed []grid.NodeID // nodes that have refused it for prices, in the order in which they did

	traced         bool // its trace names the blacklisted nodes
	tryBlacklisted bool // all candidates are blacklisted: one is tried
}

// Need is what is asked for a task's candidates.
type Need struct {
	Self    grid.NodeID
	Peers   *peers.Peers
	Buffer  *[]balance.State // of the candidates that were returned last
	Spec    *grid.JobSpec
	Class   string
	Level   string
	Limit   float64 // seconds within which a result is worth something; 0 = none
	Policy  string  // of its job, or the node's
	Foreign bool    // its job was submitted elsewhere
	Fetch   bool    // the time to fetch the inputs is wanted
}

// Local reports whether a policy has tasks run only where they were submitted. Such a task waits for that node even
// after it failed there.
func Local(policy string) bool { return policy == "local" }

// Candidates returns the nodes that the task may be offered to, as known without a poll, except those polled in this
// decision. onProbation counts the nodes that fit but were left out at the last step: on probation or backing off.
func (x *Task) Candidates(now grid.Time, n *Need) (v balance.View, onProbation int) {
	x.Expire(now)
	x.inSteps(Local(n.Policy), n.Peers.HasBlacklist(n.Class), func(heedBlacklist, strict bool) (nodes, left int) {
		v, onProbation = x.Eligible(now, n, heedBlacklist, strict)
		return len(v.Nodes), onProbation
	})
	return v, onProbation
}

// inSteps looks for candidates: it falls back in two steps when nobody else is left, first to nodes that it otherwise
// avoids for this task (an attempt failed, was lost or was demoted there, or they must deliver first after a reclaim),
// then to blacklisted nodes, unless one on probation, or one that refused the task for now, may yet take it.
func (x *Task) inSteps(local, blacklist bool, look func(heedBlacklist, strict bool) (nodes, onProbation int)) {
	x.tryBlacklisted = x.tryBlacklisted && len(x.Polled) > 0
	if local {
		look(false, false)
		return
	}
	nodes, onProbation := look(true, true)
	if nodes == 0 && (x.Prefers() || len(x.Demotions) > 0 || x.Reclaims > 0 || onProbation > 0) {
		nodes, onProbation = look(true, false)
	}
	if nodes == 0 && blacklist && onProbation == 0 && len(x.Polled) == 0 && x.Latest().Why == grid.WhyNone {
		x.tryBlacklisted = true
		look(false, false)
	}
}

// More returns the candidates for another poll. It leaves out one that needs no poll and has answered: its answer would
// be the same, immediately, in an endless loop.
func (x *Task) More(now grid.Time, n *Need) balance.View {
	v, _ := x.Candidates(now, n)
	v.Nodes = slices.DeleteFunc(v.Nodes, func(s balance.State) bool {
		return s.Answer && slices.ContainsFunc(x.Answers, func(a balance.State) bool { return a.Node == s.Node })
	})
	return v
}

// Candidate returns what is expected of a node as a candidate for a task that is decided anew; nil = it is none.
func (x *Task) Candidate(now grid.Time, id grid.NodeID, n *Need) *balance.State {
	polled := x.Polled
	x.Polled = nil
	v, _ := x.Candidates(now, n)
	x.Polled = polled
	return v.Find(id)
}

// Eligible returns the candidates, without those on the blacklist if it is heeded, and how many were left out because
// they are on probation or backing off; strict as in Excludes.
func (x *Task) Eligible(now grid.Time, n *Need, heedBlacklist, strict bool) (v balance.View,
	onProbation int) {
	need := peers.Need{Spec: n.Spec, Limit: n.Limit, Class: n.Class, Level: n.Level, Foreign: n.Foreign, Strict: strict,
		Delivered: strict && x.Reclaims > 0, Blacklisted: !heedBlacklist, Excluded: x, Fetch: n.Fetch,
		Trades: balance.Trades(n.Policy)}
	v = balance.View{Self: n.Self, Home: n.Peers.Home()}
	v.Nodes, onProbation = n.Peers.Eligible(now, &need, (*n.Buffer)[:0])
	*n.Buffer = v.Nodes
	return v, onProbation
}

// Excludes implements [peers.Excluded]: it reports whether a task must not be offered to a node, or has polled it in
// this decision. If strict it also excludes nodes on which the task failed or which demoted it, and preferences.
func (x *Task) Excludes(id grid.NodeID, strict bool) bool { return x.Bars(id, strict) || x.Asked(id) }

// Bars reports the same of all decisions.
func (x *Task) Bars(id grid.NodeID, strict bool) bool {
	return strict && (x.HasFailedOn(id) || x.Demotions.By(id)) || x.ExcludesNode(id, strict)
}

// Barred appends nodes that would not be offered the task if they pulled it from the queue where it waits: they did so
// in vain, more than once, it failed there, or they cannot run it, or its class is failing there. Not those whose
// back-off ends: these are kept with the offer, and the owner decides when the task is handed back.
func (x *Task) Barred(blacklist iter.Seq2[grid.NodeID, grid.Refusal], dst []grid.NodeID) []grid.NodeID {
	add := func(id grid.NodeID) {
		if !id.IsZero() && !slices.Contains(dst, id) && len(dst) < grid.MaxBarred {
			dst = append(dst, id)
		}
	}
	for id := range x.Vain.Barred() {
		add(id)
	}
	for id := range x.Unfit() {
		add(id)
	}
	for id := range blacklist {
		add(id)
	}
	return dst
}

// Until is for how long a node gets no offer of a task that it refused: for ever if it can never run it, else for a
// time that doubles with the tries for the task, from 1 s to 30 s.
func Until(now grid.Time, tries int, why grid.Why) grid.Time {
	if !why.Never() || why == grid.WhyAccess { // the node may be upgraded
		return now.Add(min(time.Second<<min(tries, 5), 30*time.Second))
	}
	return grid.Never
}

// Refused keeps the task from a node that has refused an attempt of it. One that never runs it as the option that it
// was offered as may run it as another one of several. To one that takes what is worth more others are preferred,
// unless it has room for another option that is worth its price: if there is no other node it is offered there again.
// That is so once for a node, which refuses a task for prices once.
func (x *Task) Refused(now grid.Time, id grid.NodeID, why grid.Refusal, tries int, n *Need) {
	as := why.Why
	switch {
	case as == grid.WhyWorth && slices.Contains(x.outweighed, id):
		x.Bar(id, why, Until(now, tries, as))
		return
	case as == grid.WhyWorth:
		x.isOutweighed(id)
	}
	switch {
	case as == grid.WhyWorth && n.Peers.Affords(now, id, n.Spec, n.Level):
		return
	case as == grid.WhyWorth:
		x.PreferOthers(id, why, now.Add(peers.PriceLife))
		return
	case len(n.Spec.Needs.Options) > 1 && as.OfOption():
		as = grid.WhyNone
	}
	x.Exclude(id, why, Until(now, tries, as))
}

// mostOutweighed bounds the nodes that are remembered to have refused a task for prices; the oldest is forgotten.
const mostOutweighed = 16

func (x *Task) isOutweighed(id grid.NodeID) {
	if len(x.outweighed) == mostOutweighed {
		x.outweighed = slices.Delete(x.outweighed, 0, 1)
	}
	x.outweighed = append(x.outweighed, id)
}

// TriesBlacklisted reports whether all candidates are blacklisted, and one is tried.
func (x *Task) TriesBlacklisted() bool { return x.tryBlacklisted }

// DropBlacklisted removes the answers of nodes that were blacklisted since the poll, or are being probed by another
// task. Tasks that run only here are exempt: they have no other answer.
func (x *Task) DropBlacklisted(now grid.Time, class, policy string, p *peers.Peers) {
	if p.HasBlacklist(class) && !x.tryBlacklisted && !Local(policy) {
		x.Answers = slices.DeleteFunc(x.Answers, func(s balance.State) bool { return p.Excludes(now, class, s.Node) })
	}
}

// maxTraced bounds the blacklisted nodes in a task's trace.
const maxTraced = 3

// NewBlacklisted iterates, once for each task, over nodes that are blacklisted, to be traced.
func (x *Task) NewBlacklisted(class string, p *peers.Peers) iter.Seq2[grid.NodeID, grid.Refusal] {
	return func(yield func(grid.NodeID, grid.Refusal) bool) {
		if !p.HasBlacklist(class) || x.traced {
			return
		}
		left := maxTraced
		for id, why := range p.Blacklist(class) {
			if left == 0 || !yield(id, why) {
				return
			}
			left--
			x.traced = true
		}
	}
}

// FoundInVain reports whether a node that meets the needs of a task will never be given it.
func (x *Task) FoundInVain(s *grid.JobSpec, ad *grid.Ad) bool {
	return x.NeverFits(ad.Node) || discovery.Suits(s, ad).Never()
}
