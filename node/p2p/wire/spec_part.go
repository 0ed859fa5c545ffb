package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"skep/grid"
	"skep/requirement"
)

// part is an encoded message, or a part of one, as bytes and as a part of a string that decoded texts share.
type part struct {
	b    []byte
	text string // the same bytes
}

// each calls number with each number of a message and data with each part. Other fields are skipped.
func (p part) each(number func(num protowire.Number, n uint64) error,
	data func(num protowire.Number, of part) error) error {
	for at := 0; at < len(p.b); {
		num, typ, size := protowire.ConsumeTag(p.b[at:])
		if size < 0 {
			return fmt.Errorf("%w: not a field", ErrMalformed)
		}
		at += size
		if size = protowire.ConsumeFieldValue(num, typ, p.b[at:]); size < 0 {
			return fmt.Errorf("%w: field %d is cut", ErrMalformed, num)
		}
		end, err := at+size, error(nil)
		switch typ {
		case protowire.VarintType:
			n, _ := protowire.ConsumeVarint(p.b[at:])
			err = number(num, n)
		case protowire.BytesType:
			content, _ := protowire.ConsumeBytes(p.b[at:])
			err = data(num, part{content, p.text[end-len(content) : end]})
		}
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// display returns a text that need not be UTF-8, as a part of the whole if it can be displayed unchanged.
func (p part) display() string {
	if grid.Printable(p.text) {
		return p.text
	}
	return shown(p.b)
}

// cloned returns a separate copy of a text, cleaned for display.
func (p part) cloned(field string) (string, error) {
	if !utf8.ValidString(p.text) {
		return "", fmt.Errorf("%s: %w: is not UTF-8", field, ErrMalformed)
	}
	if p.text == grid.EngineProcess {
		return grid.EngineProcess, nil
	}
	return strings.Clone(cleanText(p.text)), nil
}

func (p part) needs(n *grid.Needs) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 1:
			n.CPU = grid.MilliCPU(x)
		case 2:
			n.Memory = grid.Bytes(x)
		case 71:
			n.Pin = x != 0
		}
		return nil
	}, func(num protowire.Number, of part) error {
		switch num {
		case 70:
			n.Counts = grid.Counts(strings.Clone(of.text))
			return nil
		case 72:
			var err error
			n.Where, err = of.expression("where", requirement.Where)
			return err
		case 73:
			n.Options = append(n.Options, grid.Option{})
			return of.option(&n.Options[len(n.Options)-1])
		case 3:
		default:
			return nil
		}
		n.Labels = append(n.Labels, grid.LabelNeed{})
		return of.labelNeed(&n.Labels[len(n.Labels)-1])
	})
}

func (p part) labelNeed(l *grid.LabelNeed) error {
	return p.each(skipNumber, func(num protowire.Number, of part) (err error) {
		var text string
		switch num {
		case 1:
			l.Key, err = of.cloned("label")
		case 2:
			if text, err = of.cloned("label"); err == nil {
				l.Values = append(l.Values, text)
			}
		}
		return err
	})
}

func (p part) file(f *grid.File) error {
	return p.each(func(num protowire.Number, x uint64) error {
		switch num {
		case 3:
			f.Size = grid.Bytes(x)
		case 4:
			f.Exec = x != 0
		}
		return nil
	}, func(num protowire.Number, of part) error {
		switch num {
		case 1:
			f.Path = of.display()
		case 2:
			return getBlob(of.b, &f.Blob)
		}
		return nil
	})
}

func (p part) variable(v *grid.Var) error {
	return p.each(skipNumber, func(num protowire.Number, of part) error {
		switch num {
		case 1:
			v.Name = of.text
		case 2:
			v.Value = of.text
		}
		return nil
	})
}

func (p part) submitter(s *grid.Submitter) error {
	return p.each(skipNumber, func(num protowire.Number, of part) (err error) {
		switch num {
		case 1:
			err = getNode("submitter", of.b, &s.Node)
		case 2:
			s.User, err = of.cloned("submitter")
		}
		return err
	})
}

func skipNumber(protowire.Number, uint64) error { return nil }

func skipData(protowire.Number, part) error { return nil }

func putExpression(x *requirement.Expression) string {
	if x == nil {
		return ""
	}
	return x.String()
}

// getExpression parses an expression that a peer sent; "" is none. An error wraps ErrBound.
func getExpression(field, text string, use requirement.Use) (*requirement.Expression, error) {
	if text == "" {
		return nil, nil
	}
	x, err := requirement.Parse(text, use)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", field, ErrBound, clean(err.Error()))
	}
	return x, nil
}

// expression is getExpression of a part.
func (p part) expression(field string, use requirement.Use) (*requirement.Expression, error) {
	return getExpression(field, string(p.b), use)
}
