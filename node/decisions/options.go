package decisions

import (
	"encoding/binary"
	"math"
	"time"

	"skep/grid"
)

// Flags of an option in an entry.
const (
	isJudged = 1 << iota // its utility follows
	isValued             // its price and its worth follow
)

// appendOptions packs what was expected of each option.
func appendOptions(b []byte, all []grid.WeighedOption) []byte {
	all = all[:min(len(all), grid.MaxOptions)]
	b = append(b, byte(len(all)))
	for i := range all {
		o := &all[i]
		is := byte(0)
		if o.Judged {
			is |= isJudged
		}
		if o.Worth > 0 {
			is |= isValued
		}
		b = append(b, o.Number, is)
		b = binary.AppendVarint(b, o.Ready.Microseconds())
		b = binary.AppendVarint(b, o.ECT.Microseconds())
		if o.Judged {
			b = appendFloats(b, o.Utility)
		}
		if o.Worth > 0 {
			b = appendFloats(b, o.Price, o.Worth)
		}
	}
	return b
}

func (r *numbers) options() []grid.WeighedOption {
	all := make([]grid.WeighedOption, r.byte())
	for i := range all {
		o := &all[i]
		o.Number = r.byte()
		is := r.byte()
		for _, t := range [...]*time.Duration{&o.Ready, &o.ECT} {
			*t = time.Duration(r.next()) * time.Microsecond
		}
		if o.Judged = is&isJudged != 0; o.Judged {
			o.Utility = r.float()
		}
		if is&isValued != 0 {
			o.Price, o.Worth = r.float(), r.float()
		}
	}
	return all
}

// appendPrices packs the prices for which a node has refused a task.
func appendPrices(b []byte, x *grid.Prices) []byte {
	b = appendFloats(b, x.CPU, x.Memory, x.Worth)
	b = binary.AppendVarint(b, int64(x.Left.CPU))
	b = binary.AppendVarint(b, int64(x.Left.Memory))
	b = appendString(b, string(x.Left.Counts))
	b = binary.AppendVarint(b, int64(x.Offers))
	b = binary.AppendVarint(b, int64(len(x.Counted)))
	for i := range x.Counted {
		b = appendFloats(appendString(b, x.Counted[i].Kind), x.Counted[i].Price)
	}
	return b
}

func (r *numbers) prices() *grid.Prices {
	x := &grid.Prices{CPU: r.float(), Memory: r.float(), Worth: r.float()}
	x.Left.CPU, x.Left.Memory = grid.MilliCPU(r.next()), grid.Bytes(r.next())
	x.Left.Counts, x.Offers = grid.Counts(r.string()), int(r.next())
	for range r.next() {
		x.Counted = append(x.Counted, grid.UnitPrice{Kind: r.string(), Price: r.float()})
	}
	return x
}

func appendFloats(b []byte, all ...float64) []byte {
	for _, x := range all {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func (r *numbers) float() float64 {
	x := math.Float64frombits(binary.LittleEndian.Uint64(*r))
	*r = (*r)[8:]
	return x
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

func (r *numbers) string() string {
	n := r.next()
	s := string((*r)[:n])
	*r = (*r)[n:]
	return s
}
