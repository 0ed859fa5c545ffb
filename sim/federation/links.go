package federation

import "skep/grid"

// links are the bandwidths between sites and stores, and which stores are up.
type links struct {
	data   *Data
	size   [1]float64  // of a file, bytes
	rate   [][]float64 // by site and store, bytes a second
	table  [][]float64 // as they were measured last
	down   []bool      // by store
	chance []*grid.Rand
	rows   [1][]float64 // scratch
}

func newLinks(d *Data, sites int, seed uint64) *links {
	l := &links{data: d, size: [1]float64{d.Size}, down: make([]bool, d.Stores)}
	r := grid.NewRand(seed, streamLinks)
	for range sites {
		row := make([]float64, d.Stores)
		for j := range row {
			row[j] = d.Rate * r.ExpFloat64()
		}
		l.rate, l.table = append(l.rate, row), append(l.table, make([]float64, d.Stores))
	}
	for j := range d.Failing {
		c := grid.NewRand(seed, streamStores+uint64(j))
		l.chance = append(l.chance, c)
		l.down[j] = c.Float64() < d.Down
	}
	l.measure()
	return l
}

// measure brings the table up to date.
func (l *links) measure() {
	for k, row := range l.rate {
		for j, r := range row {
			l.table[k][j] = r
			if l.down[j] {
				l.table[k][j] = 0
			}
		}
	}
}

// turn has a store go down or come up, and next is in how many seconds it does so again.
func (l *links) turn(j int) { l.down[j] = !l.down[j] }

func (l *links) next(j int) float64 {
	mean := l.data.Outage
	if !l.down[j] {
		mean *= (1 - l.data.Down) / l.data.Down
	}
	return mean * l.chance[j].ExpFloat64()
}

// to are the measured bandwidths between a site and the holders of a task's file.
func (l *links) to(t *task, site int) [][]float64 {
	row := l.rows[0][:0]
	for _, j := range t.copies {
		row = append(row, l.table[site][j])
	}
	l.rows[0] = row
	return l.rows[:]
}

// reachable reports whether any site could fetch the task's file, as far as is known.
func (l *links) reachable(t *task) bool {
	for _, row := range l.table {
		for _, j := range t.copies {
			if row[j] > 0 {
				return true
			}
		}
	}
	return false
}

// best is the holder with the highest measured bandwidth to a site.
func (l *links) best(t *task, site int) int {
	best := t.copies[0]
	for _, j := range t.copies[1:] {
		if l.table[site][j] > l.table[site][best] {
			best = j
		}
	}
	return best
}
