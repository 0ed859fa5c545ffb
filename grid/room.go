package grid

// Room returns s with room for one more element. If it has to grow, it grows by an eighth, and by least at the least:
// the lists that a node has of its peers soon reach their final size, and a slice that doubles would stay half empty.
func Room[T any](s []T, least int) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(least, len(s)/8)), s...)
}
