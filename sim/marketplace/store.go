package marketplace

// store holds the tasks of a run by ID, from 1 on, in pieces without pointers. A piece is used again when the results
// of all its tasks are back, unless the matcher may still hear of one.
type store struct {
	pieces []*piece
	spare  []*piece
	made   uint32
}

const pieceSize = 512 // tasks

type piece struct {
	tasks [pieceSize]task
	back  int
	keep  bool
}

// add adds a task, which has the next ID and nothing else.
func (s *store) add() *task {
	at := s.made % pieceSize
	if at == 0 {
		s.pieces = append(s.pieces, s.unused())
	}
	s.made++
	x := &s.pieces[len(s.pieces)-1].tasks[at]
	x.query.ID = uint64(s.made)
	return x
}

// unused returns an empty piece.
func (s *store) unused() *piece {
	k := len(s.spare) - 1
	if k < 0 {
		return new(piece)
	}
	p := s.spare[k]
	s.spare = s.spare[:k]
	*p = piece{}
	return p
}

// get returns a task; nil = it is back, as others of its piece.
func (s *store) get(id uint32) *task {
	p := s.pieces[(id-1)/pieceSize]
	if p == nil {
		return nil
	}
	return &p.tasks[(id-1)%pieceSize]
}

// returned counts a result that is back.
func (s *store) returned(id uint32) {
	p := &s.pieces[(id-1)/pieceSize]
	if (*p).back++; (*p).back == pieceSize && !(*p).keep {
		s.spare = append(s.spare, *p)
		*p = nil
	}
}

// keep keeps a task for good: a query of it that is with the matcher, or on its way there, may be matched or cancelled
// after its result is back, since each message has a delay of its own.
func (s *store) keep(id uint32) { s.pieces[(id-1)/pieceSize].keep = true }

// progress is the work done for tasks whose results are not back.
func (s *store) progress() (sum float64) {
	for _, p := range s.pieces {
		if p == nil {
			continue
		}
		for i := range p.tasks {
			if t := &p.tasks[i]; !t.done {
				sum += t.query.Size - t.query.Left
			}
		}
	}
	return sum
}
