package market

import (
	"math/rand/v2"
	"testing"
)

// owners is what an owner has to match: kinds whose value falls, and sellers with and without free slots.
func owners(rnd *rand.Rand, kinds, sellers, tasks int) (ks []Kind, ss []Seller) {
	for range kinds {
		k := kind(tasks/kinds, 0.5+9*rnd.Float64(), sellers)
		k.Aged = k.Bid * (0.5 + rnd.Float64())
		for j := range k.Alone {
			k.Alone[j] = 0.1 + rnd.Float64()
		}
		k.Full = 2 * rnd.Float64()
		k.Zero = k.Full + 2*rnd.Float64()
		ks = append(ks, k)
	}
	for range sellers {
		s := Seller{Slots: 4, Idle: float64(rnd.IntN(5)), Outbid: float64(rnd.IntN(5))}
		if s.Idle == 0 {
			s.Ready = 0.5 * rnd.Float64()
		}
		ss = append(ss, s)
	}
	return ks, ss
}

// The values that are kept between deals are those that would be computed anew.
func TestKeptValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		p := mustParse(t, "cda_tdb")
		p.Candidate = []Candidate{Free, Outbids}[n%2]
		r := Round{Until: 0.25, p: &p}
		kinds, sellers := owners(rnd, 3, 4, 30)
		r.sellers = sellers
		r.values.reset(&r, kinds)
		for range 20 {
			d, found := r.next(kinds)
			if !found {
				break
			}
			r.close(&kinds[d.Kind], d.Seller)
			r.values.close(&r, kinds, d)
			var anew values
			anew.reset(&r, kinds)
			for i := range kinds {
				if got, want := r.values.most[i], anew.most[i]; got != want {
					t.Fatalf("instance %d, after %+v: kind %d delivers %v, want %v", n, d, i, got, want)
				}
			}
		}
	}
}

// The round of an owner with all that it may have: 64 kinds, 256 nodes, 1,024 deals.
func BenchmarkRoundByValue(b *testing.B) {
	p, err := Parse("cda_tdb")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		kinds, sellers := owners(rand.New(rand.NewPCG(1, 2)), 64, 256, 1024)
		for i := range kinds {
			kinds[i].Full, kinds[i].Zero = 1e3, 1e4
		}
		for j := range sellers {
			sellers[j].Idle = 4
		}
		r := Round{Until: 0.25, Most: 1024}
		b.StartTimer()
		if n := len(r.Match(&p, kinds, sellers, nil)); n != 1024 {
			b.Fatal(n, "deals")
		}
	}
}
