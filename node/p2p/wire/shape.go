package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// shape describes what the encoding of a message may contain: it is both the check that runs before anything is
// allocated and the source of the largest size.
type shape struct {
	name   string
	fields []field // by number; numbers without a name and beyond the end are unknown and skipped
}

// field bounds one field.
type field struct {
	name  string
	typ   protowire.Type
	count int // occurrences
	size  int // bytes of one occurrence's content
	total int // bytes of all occurrences' contents together; 0 = count × size
	sub   *shape
}

const maxFields = 256 // of one message: check keeps its counts on the stack

func number(name string) field {
	return field{name: name, typ: protowire.VarintType, count: 1, size: 10}
}
func fixed(name string) field {
	return field{name: name, typ: protowire.Fixed64Type, count: 1, size: 8}
}
func data(name string, count, size int) field {
	return field{name: name, typ: protowire.BytesType, count: count, size: size}
}
func dataTotal(name string, count, total int) field {
	return field{name: name, typ: protowire.BytesType, count: count, size: total, total: total}
}
func message(name string, count int, sub *shape) field {
	return field{name: name, typ: protowire.BytesType, count: count, size: sub.limit(), sub: sub}
}

// limit returns the largest size of a message of this shape.
func (s *shape) limit() int {
	sum := 0
	for num, f := range s.fields {
		if f.name == "" {
			continue
		}
		content := f.total
		if content == 0 {
			content = f.count * f.size
		}
		head := protowire.SizeTag(protowire.Number(num))
		if f.typ == protowire.BytesType {
			head += protowire.SizeVarint(uint64(f.size))
		}
		sum += f.count*head + content
	}
	return sum
}

// check compares an encoded message with the shape. It allocates nothing but errors.
func (s *shape) check(b []byte) error {
	var counts, totals [maxFields]int32
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || typ == protowire.StartGroupType || typ == protowire.EndGroupType {
			return fmt.Errorf("%s: %w: not a field", s.name, ErrMalformed)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return fmt.Errorf("%s: %w: field %d is cut", s.name, ErrMalformed, num)
		}
		value := b[:n]
		b = b[n:]
		if int(num) >= len(s.fields) || s.fields[num].name == "" {
			continue
		}
		f := &s.fields[num]
		if typ != f.typ {
			return fmt.Errorf("%s.%s: %w: wire type %d, want %d", s.name, f.name, ErrMalformed, typ, f.typ)
		}
		if counts[num]++; int(counts[num]) > f.count {
			return fmt.Errorf("%s.%s: %w: more than %d", s.name, f.name, ErrBound, f.count)
		}
		if typ != protowire.BytesType {
			continue
		}
		content, _ := protowire.ConsumeBytes(value)
		totals[num] += int32(len(content)) // a frame is far below 2 GiB
		if err := s.content(f, content, int(totals[num])); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) content(f *field, content []byte, total int) error {
	if len(content) > f.size {
		return fmt.Errorf("%s.%s: %w: %d bytes, want at most %d", s.name, f.name, ErrBound, len(content), f.size)
	}
	if f.total > 0 && total > f.total {
		return fmt.Errorf("%s.%s: %w: more than %d bytes together", s.name, f.name, ErrBound, f.total)
	}
	if f.sub != nil {
		return f.sub.check(content)
	}
	return nil
}
