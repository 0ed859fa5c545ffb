package marketplace

// books are what is counted in a run.
type books struct {
	finished float64 // work of tasks that are
	messages int

	created  int     // measured tasks
	back     int     // of them, with a result
	weights  float64 // of all
	onTime   float64 // weights of those whose result came before the deadline
	times    float64 // of those with a result, from creation
	weighted float64 // the same, times the weight
	slowdown float64
	value    float64 // delivered
	moves    int
	stops    int
}

func (b *books) came(t *task) {
	if t.counts {
		b.created++
		b.weights += t.weight
	}
}

// returned counts a result that its client has.
func (b *books) returned(now float64, t *task, reference float64) {
	if !t.counts {
		return
	}
	took := now - t.query.Created
	slowdown := took / (t.query.Size / reference)
	b.back++
	b.times += took
	b.weighted += took * t.weight
	b.slowdown += slowdown
	b.moves += int(t.moves)
	b.stops += int(t.stops)
	if now <= t.query.Deadline {
		b.onTime += t.weight
		b.value += t.weight * t.query.Value.At(slowdown) * t.query.Size
	}
}
