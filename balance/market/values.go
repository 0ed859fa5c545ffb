package market

// values are what a kind's next task would deliver at each seller, under ByValue. A deal changes only those of its
// seller, and those of its kind, whose next task may bid less: the others are kept.
type values struct {
	at      []float64 // by kind and seller; 0 = the seller does not accept it
	most    []float64 // by kind
	sellers int
}

// reset computes all of them.
func (v *values) reset(r *Round, kinds []Kind) {
	v.sellers, v.at, v.most = len(r.sellers), v.at[:0], v.most[:0]
	for i := range kinds {
		most := 0.0
		for j := range r.sellers {
			x := r.value(&kinds[i], j)
			v.at, most = append(v.at, x), max(most, x)
		}
		v.most = append(v.most, most)
	}
}

// close computes those that a deal has changed.
func (v *values) close(r *Round, kinds []Kind, d Deal) {
	for i := range kinds {
		row := v.at[i*v.sellers : (i+1)*v.sellers]
		was := row[d.Seller]
		if i == d.Kind {
			for j := range row {
				row[j] = r.value(&kinds[i], j)
			}
		} else if row[d.Seller] = r.value(&kinds[i], d.Seller); row[d.Seller] >= v.most[i] {
			v.most[i] = row[d.Seller]
			continue
		} else if was < v.most[i] {
			continue // another seller delivers more
		}
		v.most[i] = 0
		for _, x := range row {
			v.most[i] = max(v.most[i], x)
		}
	}
}

// value is what a kind's next task would deliver at a seller.
func (r *Round) value(k *Kind, j int) float64 {
	if !r.accepts(k, j) {
		return 0
	}
	_, end := r.times(k, j)
	return k.bid() * k.worth(end)
}
