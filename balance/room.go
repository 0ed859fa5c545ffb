package balance

// few is how many more a list of nodes has room for at the least when it grows.
const few = 4

// resized is s, or other memory if that is too small, with room for few more; what is in it is not kept.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}
