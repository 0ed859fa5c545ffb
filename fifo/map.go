package fifo

// Map is a map whose entries are removed in the order in which they were added. Its zero value is empty.
type Map[K comparable, V any] struct {
	ring  []entry[K, V] // n entries from head on, oldest first
	index map[K]uint32  // numbers of the entries, once there were more than small; never iterated
	head  int32
	n     int32
	first uint32 // number of the oldest entry; numbers count the entries added, modulo 2^32
}

type entry[K comparable, V any] struct {
	value V // first: a last field of no size would take a word
	key   K
}

const (
	small = 32 // entries up to which the ring is searched
	least = 2  // entries by which it grows at the least
)

// Len is the number of entries.
func (m *Map[K, V]) Len() int { return int(m.n) }

// Get returns the value of a key, which may be changed until the next Add; nil = none.
func (m *Map[K, V]) Get(key K) *V {
	if i := m.find(key); i >= 0 {
		return &m.at(i).value
	}
	return nil
}

// find returns how many entries are older than that of a key; −1 = there is none.
func (m *Map[K, V]) find(key K) int32 {
	if m.index != nil {
		if number, ok := m.index[key]; ok {
			return int32(number - m.first)
		}
		return -1
	}
	for i := range m.n {
		if m.at(i).key == key {
			return i
		}
	}
	return -1
}

// Add adds an entry, whose key is new.
func (m *Map[K, V]) Add(key K, value V) {
	if int(m.n) == len(m.ring) {
		m.grow()
	}
	if m.n == small && m.index == nil {
		m.index = make(map[K]uint32)
		for i := range m.n {
			m.index[m.at(i).key] = m.first + uint32(i)
		}
	}
	if m.index != nil {
		m.index[key] = m.first + uint32(m.n)
	}
	*m.at(m.n) = entry[K, V]{value, key}
	m.n++
}

// Oldest returns the oldest entry of a map that is not empty.
func (m *Map[K, V]) Oldest() (K, *V) {
	e := m.at(0)
	return e.key, &e.value
}

// RemoveOldest removes the oldest entry of a map that is not empty.
func (m *Map[K, V]) RemoveOldest() {
	e := m.at(0)
	delete(m.index, e.key)
	*e = entry[K, V]{}
	if m.head++; int(m.head) == len(m.ring) {
		m.head = 0
	}
	m.n--
	m.first++
}

// Remove removes the entry of a key that the map has; that takes time in proportion to the older entries.
func (m *Map[K, V]) Remove(key K) {
	for i := m.find(key); i > 0; i-- {
		e := m.at(i)
		if *e = *m.at(i - 1); m.index != nil {
			m.index[e.key] = m.first + uint32(i)
		}
	}
	m.at(0).key = key
	m.RemoveOldest()
}

// at returns the entry that is the i-th from the oldest on, or the place of the next one.
func (m *Map[K, V]) at(i int32) *entry[K, V] {
	if i += m.head; int(i) >= len(m.ring) {
		i -= int32(len(m.ring))
	}
	return &m.ring[i]
}

func (m *Map[K, V]) grow() {
	ring := make([]entry[K, V], len(m.ring)+max(least, len(m.ring)/4))
	copy(ring[copy(ring, m.ring[m.head:]):], m.ring[:m.head])
	m.ring, m.head = ring, 0
}
