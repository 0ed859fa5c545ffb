//go:build unix

package process

import "testing"

// While an attempt waits for a user ID others go on, and one that got two keeps the first.
func TestClaimHoldsUpNobody(t *testing.T) {
	r := &Runner{owners: map[string]Account{"other": {UID: 7}}}
	var back uint32
	to, err := r.claim("one", func() (Account, error) {
		if !r.mu.TryLock() {
			t.Fatal("the runner waits as long as it takes to find one")
		}
		r.owners["one"] = Account{UID: 8} // as another call for it does
		r.mu.Unlock()
		return Account{UID: 9}, nil
	}, func(to Account, left bool) { back = to.UID })
	if to.UID != 8 || err != nil || back != 9 || r.Owner("one") != to {
		t.Errorf("got %v, %v; %d was given back, and it has %v", to, err, back, r.Owner("one"))
	}
	if to, err := r.claim("other", nil, nil); to.UID != 7 || err != nil {
		t.Errorf("it is %v, %v", to, err)
	}
}
