package wire

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/internal/indices"
	"skep/node/p2p/wire/internal/pb"
)

// arrayField is the number of the array in an encoded spec.
const arrayField = 30

// maxNumber is the bytes of a number of 32 bits in a packed list.
const maxNumber = 5

var arrayShape = &shape{"array", []field{
	1: data("names", grid.MaxAxes, grid.MaxLabel),
	2: data("counts", 1, grid.MaxAxes*maxNumber),
	3: {name: "values", typ: protowire.BytesType, count: int(grid.MaxArray) / 2, size: int(grid.MaxValue),
		total: int(grid.MaxArray)},
	4: data("indices", 1, indices.MaxRanges*3*maxNumber),
	5: data("lines", 1, grid.MaxPath), 6: number("line_count"),
	7: data("inputs", 1, grid.MaxTaskInputs*3*maxNumber),
}}

func putArray(a *grid.Array) *pb.Array {
	if a == nil {
		return nil
	}
	p := &pb.Array{}
	for i := range a.Axes {
		x := &a.Axes[i]
		p.Names, p.Counts = append(p.Names, x.Name), append(p.Counts, uint32(len(x.Values)))
		for _, v := range x.Values {
			p.Values = append(p.Values, []byte(v))
		}
		for _, r := range x.Indices {
			p.Indices = append(p.Indices, r.First, r.Last, r.Step)
		}
		if x.Lines != "" {
			p.Lines, p.LineCount = []byte(x.Lines), x.Count
		}
	}
	for _, in := range a.Inputs {
		p.Inputs = append(p.Inputs, in.Input, in.Axis, in.Value)
	}
	return p
}

// arrayReader fills an array with the columns of its encoding.
type arrayReader struct {
	a                      *grid.Array
	counts, ranges, inputs []uint32
	values                 []string
	lines                  string
	lineCount              uint32
}

func (p part) array(a *grid.Array) error {
	r := arrayReader{a: a}
	if err := p.each(r.number, r.data); err != nil {
		return fmt.Errorf("array: %w", err)
	}
	if len(r.counts) != len(a.Axes) || len(r.ranges)%3 != 0 || len(r.inputs)%3 != 0 {
		return fmt.Errorf("array: %w: its columns are not of one length", ErrMalformed)
	}
	for i := range a.Axes {
		if err := r.axis(&a.Axes[i], int(r.counts[i])); err != nil {
			return err
		}
	}
	for in := range slices.Chunk(r.inputs, 3) {
		a.Inputs = append(a.Inputs, grid.TaskInput{Input: in[0], Axis: in[1], Value: in[2]})
	}
	return nil
}

func (r *arrayReader) number(num protowire.Number, n uint64) error {
	if num == 6 {
		r.lineCount = uint32(n)
	}
	return nil
}

func (r *arrayReader) data(num protowire.Number, of part) (err error) {
	switch num {
	case 1:
		var name string
		name, err = of.cloned("array")
		r.a.Axes = append(r.a.Axes, grid.Axis{Name: name})
	case 2:
		r.counts, err = of.numbers()
	case 3:
		r.values = append(r.values, of.text)
	case 4:
		r.ranges, err = of.numbers()
	case 5:
		r.lines = of.display()
	case 7:
		r.inputs, err = of.numbers()
	}
	return err
}

// axis takes the values of one axis out of the columns.
func (r *arrayReader) axis(x *grid.Axis, count int) error {
	switch {
	case count > len(r.values):
		return fmt.Errorf("array: %w: fewer values than it says", ErrMalformed)
	case count > 0:
		x.Values, r.values = r.values[:count:count], r.values[count:]
	case x.Name == grid.IndexVariable:
		for n := range slices.Chunk(r.ranges, 3) {
			x.Indices = append(x.Indices, indices.Range{First: n[0], Last: n[1], Step: n[2]})
		}
	case x.Name == grid.LineVariable:
		x.Lines, x.Count = r.lines, r.lineCount
	}
	return nil
}

// numbers decodes a packed list.
func (p part) numbers() (list []uint32, err error) {
	for b := p.b; len(b) > 0; {
		n, size := protowire.ConsumeVarint(b)
		if size < 0 || n > 1<<32-1 {
			return nil, fmt.Errorf("%w: not a number of 32 bits", ErrMalformed)
		}
		list, b = append(list, uint32(n)), b[size:]
	}
	return list, nil
}
