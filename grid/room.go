package grid

// Room returns s with room for one more, and for few others where it has to grow: by a quarter, and by least at the least. What a node
// keeps of its peers is soon as much as it will be, and then stays so; a slice that doubles would be half empty.
func Room[T any](s []T, least int) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(least, len(s)/4)), s...)
}
