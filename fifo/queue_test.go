package fifo

import "testing"

// Items are taken in the order in which they were added, also those that are added in between; then the memory is used
// again, and keeps nothing alive.
func TestQueue(t *testing.T) {
	var q Queue[*int]
	if _, found := q.Take(); found || !q.Empty() {
		t.Error("a new queue has an item")
	}
	items := []*int{new(int), new(int), new(int)}
	for round := range 3 {
		q.Add(items[0])
		q.Add(items[1])
		for i, want := range items {
			if i == 1 {
				q.Add(items[2])
			}
			if got, found := q.Take(); !found || got != want {
				t.Fatalf("round %d: item %d is %p, %v", round, i, got, found)
			}
		}
		if !q.Empty() || cap(q.items) != 4 && cap(q.items) != 3 {
			t.Errorf("round %d: it is not empty, or has grown to %d", round, cap(q.items))
		}
		for i, x := range q.items[:cap(q.items)] {
			if x != nil {
				t.Errorf("round %d: the place of item %d keeps it alive", round, i)
			}
		}
	}
}
