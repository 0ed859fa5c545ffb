package node

// room makes room for one more, and for few others: what a node keeps of its peers is as much as it will be soon, and then stays so.
func room[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(2, len(s)/4)), s...)
}
