package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"skep/gang"
	"skep/gang/mapper"
	"skep/gang/model"
	"skep/grid"
	"skep/node/gangs"
)

// ReferenceWork is the work that one core of the reference machine does in a second, in the unit in which models count:
// about its clock cycles.
const ReferenceWork = 3e9

// Chooser is the search of one gang.
type Chooser struct {
	cop    gang.COP
	policy gang.Policy
}

// memoryOnly is the model that knows no times: machines are compared by themselves, and shares are equal.
const memoryOnly = "memory"

// New makes the chooser of a gang. The error names the model, mapper or parameter that is not known here.
func New(s *grid.ScheduleSearch) (*Chooser, error) {
	told := make(map[string]float64, len(s.Parameters))
	for _, p := range s.Parameters {
		told[p.Name] = p.Value
	}
	if _, is := told["speed"]; s.Model == "table" && !is { // measured on machines of speed 1
		told["speed"] = ReferenceWork
	}
	var rows []model.Measurement
	for _, m := range s.Measured {
		rows = append(rows, model.Measurement{Ranks: int(m.Ranks), Compute: m.Compute, Message: m.Message})
	}
	of, err := model.New(s.Model, told, rows)
	usual := mapper.Default
	if s.Model == memoryOnly {
		usual = "equal"
	}
	by, unknown := mapper.New(cmp.Or(s.Mapper, usual))
	if s.Model == memoryOnly && unknown == nil && cmp.Or(s.Mapper, usual) != usual {
		unknown = fmt.Errorf("mapper %s: with the model %s: want %s, since it knows no times", s.Mapper, s.Model, usual)
	}
	if err := errors.Join(err, unknown); err != nil {
		return nil, err
	}
	return &Chooser{gang.COP{Model: of, Mapper: by}, gang.Policy{Conserve: s.Conserve, OneSite: s.OneSite,
		MemoryOnly: s.Model == memoryOnly}}, nil
}

// Choose implements [gangs.Chooser]. The ranks of one node stand next to each other, in the order of their first ranks.
func (c *Chooser) Choose(ranks gangs.Size, nodes []grid.GangNode, rooms []int) gangs.Choice {
	of, pool := machines(ranks.Max, nodes, rooms)
	policy := c.policy
	policy.Ranks = gang.Range(ranks)
	s, examined, err := gang.Search(pool, c.cop, policy)
	if err != nil {
		return gangs.Choice{Why: err.Error()}
	}
	choice, whole, left := gangs.Choice{}, mapper.Whole(&s), c.cop.Model.Units()
	for _, x := range whole {
		left -= x
	}
	if left != 0 || slices.Min(whole) < 0 {
		return gangs.Choice{Why: mapper.ErrPrecision.Error()}
	}
	placed := map[int]int{} // by machine, its index in the places
	for k, m := range s.Places {
		at, is := placed[m]
		if !is {
			at = len(choice.Places)
			placed[m], choice.Places = at, append(choice.Places, gangs.Place{Node: nodes[of[m]].Node})
		}
		p := &choice.Places[at]
		p.Ranks++
		p.Shares = append(p.Shares, uint32(whole[k]))
	}
	if s.Time > 0 { // it is not a number where the model knows no times
		choice.Time = s.Time
	}
	var used []int
	for m := range placed {
		used = append(used, of[m])
	}
	slices.Sort(used)
	choice.Why = text(&s, &examined, choice.Places, oldest(nodes, of, s.Places)) + slowestLink(nodes, used)
	return choice
}

// Predict returns the seconds of an iteration of a schedule whose ranks have these places and shares, by what is known
// of the nodes now; +Inf where one of them is not known, or the shares are not all of the work: workers may have told
// them.
func (c *Chooser) Predict(layout []grid.RankPlace, nodes []grid.GangNode, rooms []int) float64 {
	var used []grid.GangNode
	var slots []int
	s, left := gang.Schedule{}, c.cop.Model.Units()
	for k, p := range layout {
		at := slices.IndexFunc(nodes, func(n grid.GangNode) bool { return n.Node == p.Node })
		if at < 0 || len(p.Shares) != int(p.Ranks) {
			return math.Inf(1)
		}
		used, slots = append(used, nodes[at]), append(slots, max(rooms[at], int(p.Ranks)))
		for _, x := range p.Shares {
			s.Places, s.Shares = append(s.Places, k), append(s.Shares, float64(x))
			left -= int(x)
		}
	}
	if left != 0 {
		return math.Inf(1)
	}
	s.Costs = c.cop.Model.Costs(&gang.Group{Pool: poolOf(used, slots), Places: s.Places}, nil)
	return c.cop.Model.Predict(&s)
}

// oldest is the age of the oldest news on which a schedule rests.
func oldest(nodes []grid.GangNode, of, places []int) (age time.Duration) {
	for _, m := range places {
		age = max(age, nodes[of[m]].News)
	}
	return age
}

// maxShares bounds the shares that a text names.
const maxShares = 16

func text(s *gang.Schedule, x *gang.Examined, places []gangs.Place, age time.Duration) string {
	var t strings.Builder
	fmt.Fprintf(&t, "searched %d groups of nodes in %d sites, mapped %d: ", x.Distinct, x.Sites, x.Mapped)
	if s.Time > 0 {
		fmt.Fprintf(&t, "%.3g s an iteration, ", s.Time)
	}
	var shares []string
	for _, p := range places {
		for _, share := range p.Shares[:min(len(p.Shares), maxShares+1-len(shares))] {
			shares = append(shares, strconv.FormatUint(uint64(share), 10))
		}
	}
	more := ""
	if len(shares) > maxShares {
		shares, more = shares[:maxShares], " …"
	}
	fmt.Fprintf(&t, "shares %s%s; news up to %.1f s old", strings.Join(shares, ", "), more, age.Seconds())
	return t.String()
}
