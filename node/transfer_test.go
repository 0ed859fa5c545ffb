package node

import (
	"testing"

	"skep/grid"
)

// A transfer that is no longer wanted is not stopped: it is charged until it ends, and no longer.
func TestUnwantedTransferIsChargedUntilItEnds(t *testing.T) {
	r := &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}
	size := diskBytes(r.Outputs)
	for name, unwant := range map[string]func(*owner){
		"another attempt ended": func(o *owner) {
			o.write(1, nil, false, grid.Entry{Index: 1, Attempt: grid.Attempt{Epoch: 1, N: 2}, Result: exitZero})
		},
		"the job is forgotten": func(o *owner) {
			o.n.forgetJob(o.n.job(o.job(1)), &o.fx)
		},
	} {
		for _, err := range []string{"", "it is not there"} {
			o := newOwner(t, nil)
			o.write(1, nil, false)
			if said, fetches := o.copy(o.attempt(1, 1), r); said != nil || !fetches {
				t.Fatalf("%s: asked to deposit it said %v", name, said)
			}
			unwant(o)
			if p := o.n.accounts.of(o.id); p.fetching != 1 || p.deposited != size || o.n.deposited != size {
				t.Errorf("%s: %d under way, %d bytes deposited; want 1, %d", name, p.fetching, p.deposited, size)
			}
			o.fetched(o.attempt(1, 1), err)
			if p := o.n.accounts.of(o.id); p.fetching != 0 || p.deposited != 0 || o.n.deposited != 0 {
				t.Errorf("%s, and came with %q: %d under way, %d bytes deposited", name, err, p.fetching, p.deposited)
			}
			o.fetched(o.attempt(1, 1), err) // nobody asked for that
			if p := o.n.accounts.of(o.id); p.fetching != 0 || p.deposited != 0 {
				t.Errorf("%s, twice: %d under way, %d bytes deposited", name, p.fetching, p.deposited)
			}
		}
	}
}

// Regression: more than a certain number of an owner's transfers that were dropped under way made a member refuse all
// others of it, for good.
func TestDroppedTransfersDoNotBlockOwner(t *testing.T) {
	o := newOwner(t, func(c *Config) { c.Keep = 10_000 })
	for i := range maxFetching + 1 {
		k := byte(1 + i%200)
		o.write(k, nil, false)
		id := o.attempt(k, 1)
		id.N = uint32(1 + 2*(i/200))
		said, fetches := o.copy(id, &grid.Result{Cause: grid.Exited, Outputs: files(k, 1, 1)})
		if said != nil || !fetches {
			t.Fatalf("deposit %d: said %v", i, said)
		}
		next := id
		next.N++
		if said, fetches = o.copy(next, &grid.Result{Cause: grid.Exited, Outputs: files(k, 1, 2)}); said != nil || !fetches {
			t.Fatalf("deposit %d, of the next attempt: said %v", i, said)
		}
		o.fetched(id, "")
		o.fetched(next, "")
	}
	if p := o.n.accounts.of(o.id); p.fetching != 0 {
		t.Errorf("%d are still under way", p.fetching)
	}
}

// While files are under way, the same attempt cannot name others.
func TestAnAttemptNamesItsFilesOnce(t *testing.T) {
	o := newOwner(t, nil)
	o.write(1, nil, false)
	id := o.attempt(1, 1)
	if _, fetches := o.copy(id, &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}); !fetches {
		t.Fatal("nothing is fetched")
	}
	o.n.forgetJob(o.n.job(o.job(1)), &o.fx)
	o.write(1, nil, false)
	if said, fetches := o.copy(id, &grid.Result{Cause: grid.Exited, Outputs: files(3, 1, grid.MiB)}); fetches || said == nil || said.Why != grid.WhyQueue {
		t.Errorf("others: said %v, fetches %v", said, fetches)
	}
	if said, fetches := o.copy(id, &grid.Result{Cause: grid.Exited, Outputs: files(2, 1, grid.MiB)}); fetches || said != nil {
		t.Errorf("the same: said %v, fetches %v", said, fetches)
	}
	o.fetched(id, "")
	if c := o.one(grid.KindDepositAck); c.Msg.Refusal.Why != grid.WhyNone || o.n.deposited != diskBytes(files(2, 1, grid.MiB)) {
		t.Errorf("when they are here it says %v, and has %d bytes deposited", c.Msg.Refusal, o.n.deposited)
	}
}
