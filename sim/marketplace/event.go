package marketplace

// kind is what happens in an event.
type kind uint8

const (
	arrival    kind = iota // a burst of tasks
	background             // a background task arrives at a server
	free                   // a background task ends
	completion
	tick
	reprice

	toMatcher // messages: a query
	requery   // of a task that was suspended
	slower    // of a task that runs more slowly
	cancel    // the query of a task that goes on
	told      // news of a server
	missed    // a task did not move to a server
	matched   // to the client
	data      // of a task, to a server
	migrate   // to the server that has the task
	result    // to the client
	refused   // to the owner of a task for which a server has no room
)

// event is something that happens at a time.
type event struct {
	kind    kind
	runs    bool // migrate: the task runs where it is
	server  int32
	to      int32 // server, or for told and tick the matcher
	version uint32
	task    uint32 // its ID; 0 = none
	news    int32  // index in engine.letters
}

// planned is an event of a later time; of equal times the earlier planned is first.
type planned struct {
	event
	seq uint64
}

// bySeq orders events of the same time.
type bySeq struct{}

// Before implements [heap.Order].
func (bySeq) Before(a, b planned) bool { return a.seq < b.seq }

func (e *engine) at(t float64, ev event) {
	e.seq++
	e.agenda.Push(t, planned{ev, e.seq})
}

// nextArrival sets the next arrival.
func (e *engine) nextArrival() {
	e.source.advance()
	e.seq++
	e.arrival = e.seq
}

// next takes the next event of a later time.
func (e *engine) next() (at float64, ev event) {
	if e.agenda.Len() > 0 {
		if first, x := e.agenda.First(); first < e.source.next || first == e.source.next && x.seq < e.arrival {
			e.agenda.Pop()
			return first, x.event
		}
	}
	return e.source.next, event{kind: arrival}
}
