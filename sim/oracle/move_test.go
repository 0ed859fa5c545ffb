package oracle

import (
	"strings"
	"testing"

	"skep/grid"
)

// rank records the state of a rank at node 1: how often its gang has moved, and it was lost.
func (s *scene) rank(task, n uint32, state grid.TaskState, pulls uint8, lost int32) {
	s.Save(0, []grid.Record{{Kind: grid.RecEntry, Entry: grid.SoleEntry(&grid.TaskRecord{ID: s.id(task, n), State: state,
		Worker: s.w.ID(1), Pulls: pulls, Lost: lost})}})
}

// move has the gang move away from attempt n.
func (s *scene) move(n uint32, pulls uint8) {
	for task := range uint32(2) {
		s.rank(task, n, grid.Offered, pulls-1, 0)
	}
	s.rank(0, n, grid.Pending, pulls, 0)
	s.rank(1, n, grid.Pending, 0, 0)
}

func TestRulesOfMoves(t *testing.T) {
	for want, play := range map[string]func(*scene){
		"": func(s *scene) {
			s.move(1, 1)
			s.move(2, 2)
		},
		" ": func(s *scene) { // a loss after a move
			s.move(1, 1)
			s.rank(0, 2, grid.Offered, 1, 0)
			s.rank(0, 2, grid.Pending, 1, 1)
		},
		"which must run at most once": func(s *scene) {
			s.spec.Retries = 0
			s.move(1, 1)
		},
		"that is move 3, of at most 2": func(s *scene) {
			s.move(1, 1)
			s.move(2, 2)
			s.move(3, 3)
		},
		"attempt 1.1 of task 0 of submission 0 (from n0), and counts it as lost": func(s *scene) {
			s.rank(0, 1, grid.Offered, 0, 0)
			s.rank(0, 1, grid.Pending, 1, 1)
		},
		"attempt 1.1 of task 1 of submission 0 (from n0), and counts it as lost": func(s *scene) {
			s.rank(0, 1, grid.Offered, 0, 0)
			s.rank(1, 1, grid.Offered, 0, 0)
			s.rank(0, 1, grid.Pending, 1, 0)
			s.rank(1, 1, grid.Pending, 0, 1)
		},
		"and its disk has no checkpoint": func(s *scene) {
			s.Save(0, []grid.Record{{Kind: grid.RecCheckpoint, Checkpoint: &grid.CheckpointRecord{ID: s.id(0, 1)},
				Delete: true}})
			s.move(1, 1)
		},
	} {
		s := newScene()
		s.spec.Retries, s.spec.Rules = 1, grid.Rules{}
		s.spec.Gang = grid.Gang{Ranks: 2, Search: &grid.ScheduleSearch{Contract: &grid.Contract{Moves: 2}}}
		s.saveJob()
		s.Save(0, []grid.Record{{Kind: grid.RecCheckpoint, Checkpoint: &grid.CheckpointRecord{ID: s.id(0, 1), Step: 3}}})
		play(s)
		switch {
		case strings.TrimSpace(want) == "" && len(s.w.said) > 0:
			t.Errorf("a life without fault: %q", s.w.said)
		case strings.TrimSpace(want) != "" && (len(s.w.said) != 1 || !strings.Contains(s.w.said[0], want)):
			t.Errorf("found %q, want it once: %q", s.w.said, want)
		}
	}
}
