package balance

// room makes room for one more, and for few others: a view is full soon, and then stays as large as it is.
func room[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(4, len(s)/4)), s...)
}

// resized is s, or other memory if that is too small, with room for few more; what is in it is not kept.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}
