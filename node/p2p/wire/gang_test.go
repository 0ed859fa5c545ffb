package wire

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skep/grid"
)

// exampleGang is a sealed spec of four ranks, whose workers are searched for in one way.
func exampleGang(t testing.TB, search *grid.ScheduleSearch) *grid.JobSpec {
	t.Helper()
	return sealedGang(t, grid.Gang{Ranks: 4, Search: search})
}

func sealedGang(t testing.TB, gang grid.Gang) *grid.JobSpec {
	t.Helper()
	s := exampleSpec()
	s.Submitter = grid.Submitter{Node: exampleJob().Origin, User: "ada"}
	s.Count, s.Gang, s.Rules, s.Idempotent, s.Policy = 4, gang, grid.Rules{}, false, ""
	sealed, err := SealSpec(testKey(1), exampleJob(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func exampleSearch() *grid.ScheduleSearch {
	return &grid.ScheduleSearch{Model: "table", Parameters: []grid.Parameter{{Name: "units", Value: 2048}},
		Measured: []grid.Measured{{Ranks: 2, Compute: 1.5, Message: 0.25}}, Mapper: "min_max", Conserve: 0.05,
		OneSite: true}
}

// genGang makes the tasks of a spec the ranks of a gang.
func genGang(t *rapid.T, s *grid.JobSpec) {
	s.Count = rapid.Uint32Range(1, grid.MaxRanks).Draw(t, "ranks")
	if s.Stdin == grid.StdinStream {
		s.Count = 1
	}
	s.Gang.Ranks, s.Rules, s.Idempotent, s.Policy = s.Count, grid.Rules{}, false, ""
	if s.After.Each() >= 0 {
		s.After = grid.After{}
	}
	if s.Count > 1 && rapid.Bool().Draw(t, "sized") {
		s.Gang.Min = rapid.Uint32Range(1, s.Count-1).Draw(t, "min")
		s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(grid.GangSizeLabel))
	}
	if rapid.Bool().Draw(t, "gang network") {
		s.Network = grid.NetworkGang
		s.Needs.Labels = append(slices.DeleteFunc(s.Needs.Labels,
			func(l grid.LabelNeed) bool { return l.Key == grid.IsolationLabel }),
			grid.LabelNeed{Key: grid.IsolationLabel, Values: []string{"strict"}})
		for i := range rapid.IntRange(0, min(grid.MaxPorts, int(grid.MaxListeners/s.Count))).Draw(t, "ports") {
			s.Gang.Ports[i] = uint16(1 + 4000*i)
		}
		s.Needs.Labels = append(s.Needs.Labels, grid.FeatureNeed(s.Gang.Ports.NetworkLabel()))
	}
	if rapid.Bool().Draw(t, "search") {
		s.Gang.Search = genScheduleSearch(t)
	}
}

func genScheduleSearch(t *rapid.T) *grid.ScheduleSearch {
	part := rapid.Float64Range(0, 1)
	x := &grid.ScheduleSearch{Model: rapid.StringMatching("[a-z]{1,9}").Draw(t, "model"),
		Mapper:   rapid.StringMatching("[a-z_]{0,9}").Draw(t, "mapper"),
		Conserve: part.Draw(t, "conserve"), OneSite: rapid.Bool().Draw(t, "one site"),
		CountsMoves: rapid.Bool().Draw(t, "counts moves")}
	for k := range rapid.IntRange(0, grid.MaxParameters).Draw(t, "parameters") {
		x.Parameters = append(x.Parameters, grid.Parameter{Name: string(rune('a' + k)),
			Value: rapid.Float64().Draw(t, "value")})
	}
	for k := range rapid.IntRange(0, 3).Draw(t, "measured") {
		x.Measured = append(x.Measured, grid.Measured{Ranks: uint32(k + 1), Compute: part.Draw(t, "compute"),
			Message: part.Draw(t, "message")})
	}
	if rapid.Bool().Draw(t, "contract") {
		x.Contract = &grid.Contract{Tolerance: part.Draw(t, "tolerance"),
			Window: rapid.Uint32Range(1, grid.MaxWindow).Draw(t, "window"),
			Moves:  rapid.Uint32Range(0, grid.MaxMoves).Draw(t, "moves")}
	}
	return x
}
