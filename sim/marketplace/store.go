package marketplace

// store holds the tasks of a run by ID, from 1 on, in pieces without pointers. A piece is dropped when the results of
// all its tasks are back, unless the matcher may still hear of one.
type store struct {
	pieces []*piece
	made   uint32
}

const pieceSize = 512 // tasks

type piece struct {
	tasks [pieceSize]task
	back  int
	keep  bool
}

// add adds a task and gives it the next ID.
func (s *store) add(t task) *task {
	at := s.made % pieceSize
	if at == 0 {
		s.pieces = append(s.pieces, new(piece))
	}
	s.made++
	x := &s.pieces[len(s.pieces)-1].tasks[at]
	*x = t
	x.query.ID = uint64(s.made)
	return x
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
