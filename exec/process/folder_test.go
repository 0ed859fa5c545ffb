//go:build unix

package process

import "testing"

// While an attempt waits for a user ID others go on, and one that got two keeps the first.
func TestClaimHoldsUpNobody(t *testing.T) {
	r := &Runner{ids: map[string]uint32{"other": 7}}
	var back uint32
	id, err := r.claim("one", func() (uint32, error) {
		if !r.mu.TryLock() {
			t.Fatal("the runner waits as long as it takes to find one")
		}
		r.ids["one"] = 8 // as another call for it does
		r.mu.Unlock()
		return 9, nil
	}, func(id uint32, left bool) { back = id })
	if id != 8 || err != nil || back != 9 || r.Owner("one") != 8 {
		t.Errorf("got %d, %v; %d was given back, and it has %d", id, err, back, r.Owner("one"))
	}
	if id, err := r.claim("other", nil, nil); id != 7 || err != nil {
		t.Errorf("its ID is %d, %v", id, err)
	}
}
