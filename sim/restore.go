package sim

import "skep/grid"

// restore gives a new run the node's durable records in random order.
func (w *World) restore(i int32) {
	h := &w.hosts[i]
	var records []grid.Record
	for n := h.disk.jobs; n != 0; n = w.jobs[n-1].nextOfOrigin {
		j := &w.jobs[n-1]
		if j.saved {
			records = append(records, w.jobRecord(n-1))
		}
		for k := j.first; k < j.first+j.count; k++ {
			if w.tasks[k].saved {
				records = append(records, w.taskRecord(k))
			}
		}
	}
	for at := h.disk.workChain; at != 0; at = w.workRecords[at-1].nodeChain[1] {
		records = append(records, grid.Record{Kind: grid.RecWork, Work: w.workRecords[at-1].rec})
	}
	records = h.disk.registers(records)
	for _, c := range h.disk.classes {
		records = append(records, grid.Record{Kind: grid.RecClass, Class: c})
	}
	w.rng.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
	for k := range records {
		w.digest.record(&records[k])
		h.member.Restore(&records[k])
	}
}
