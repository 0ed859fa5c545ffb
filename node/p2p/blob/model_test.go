package blob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skep/grid"
)

// model is a simple model of the store: a list of contents, most recently used last, and a count of pins.
type model struct {
	dir   string
	s     *Store
	order []string
	pins  map[string]int
}

const modelMax = 100

var genContent = rapid.Custom(func(t *rapid.T) string {
	n := rapid.IntRange(0, 12).Draw(t, "content")
	return strings.Repeat(fmt.Sprintf("%c", 'a'+n), n*5)
})

func (m *model) size() (n int) {
	for _, c := range m.order {
		n += len(c)
	}
	return n
}

func (m *model) use(c string) bool {
	i := slices.Index(m.order, c)
	if i < 0 {
		return false
	}
	m.order = append(slices.Delete(m.order, i, i+1), c)
	return true
}

// put returns the error that the store must return for a content.
func (m *model) put(c string) error {
	if m.use(c) {
		return nil
	}
	held := 0
	for _, c := range m.order {
		if m.pins[c] > 0 {
			held += len(c)
		}
	}
	if held+len(c) > modelMax {
		return ErrFull
	}
	for m.size()+len(c) > modelMax {
		i := slices.IndexFunc(m.order, func(c string) bool { return m.pins[c] == 0 })
		m.order = slices.Delete(m.order, i, i+1)
	}
	m.order = append(m.order, c)
	return nil
}

func (m *model) Put(t *rapid.T) {
	c := genContent.Draw(t, "c")
	_, _, err := m.s.Put(ctx, strings.NewReader(c), modelMax, rapid.Bool().Draw(t, "durable"))
	if want := m.put(c); !errors.Is(err, want) {
		t.Fatalf("Put: %v, want %v", err, want)
	}
}

func (m *model) PutExpected(t *rapid.T) {
	c := genContent.Draw(t, "c")
	err := m.s.PutExpected(ctx, nameOf(c), grid.Bytes(len(c)), strings.NewReader(c), rapid.Bool().Draw(t, "durable"))
	if want := m.put(c); !errors.Is(err, want) {
		t.Fatalf("PutExpected: %v, want %v", err, want)
	}
}

func (m *model) PutWrong(t *rapid.T) {
	c := genContent.Draw(t, "c")
	here := m.use(c)
	err := m.s.PutExpected(ctx, nameOf(c), grid.Bytes(len(c)), strings.NewReader(c+"!"), false)
	if here != (err == nil) {
		t.Fatalf("PutExpected of wrong content: %v, was here: %v", err, here)
	}
}

func (m *model) Open(t *rapid.T) {
	c := genContent.Draw(t, "c")
	f, size, err := m.s.Open(ctx, nameOf(c))
	if here := m.use(c); here != (err == nil) {
		t.Fatalf("Open: %v, want here: %v", err, here)
	}
	if err == nil {
		f.Close()
		if size != grid.Bytes(len(c)) {
			t.Fatalf("%d bytes", size)
		}
	}
}

func (m *model) Pin(t *rapid.T) {
	c := genContent.Draw(t, "c")
	m.s.Pin(nameOf(c))
	m.pins[c]++
}

func (m *model) Unpin(t *rapid.T) {
	c := genContent.Draw(t, "c")
	if m.pins[c] == 0 {
		t.Skip("not pinned")
	}
	m.s.Unpin(nameOf(c))
	if m.pins[c]--; m.pins[c] == 0 {
		m.use(c)
	}
}

func (m *model) Check(t *rapid.T) {
	if m.s.Len() != len(m.order) || m.s.Size() != grid.Bytes(m.size()) || m.s.Size() > modelMax {
		t.Fatalf("%d blobs of %d bytes, want %d of %d", m.s.Len(), m.s.Size(), len(m.order), m.size())
	}
	for _, c := range m.order {
		if !m.s.Has(nameOf(c)) {
			t.Fatalf("%q is missing", c)
		}
	}
}

func TestModel(t *testing.T) {
	dirs := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &model{dir: fmt.Sprintf("%s/%d", dirs, n), pins: map[string]int{}}
		s, err := Open(m.dir, modelMax)
		if err != nil {
			t.Fatal(err)
		}
		m.s = s
		t.Repeat(rapid.StateMachineActions(m))
		again, err := Open(m.dir, modelMax)
		if err != nil {
			t.Fatal(err)
		}
		m.s = again
		m.Check(t)
		for _, c := range m.order {
			if err := m.s.Verify(ctx, nameOf(c)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
