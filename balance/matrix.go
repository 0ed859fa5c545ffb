package balance

// matrix is dense, class by node: the row of a class lies in one piece, as the LP reads it. It grows by
// rows and by columns; what is new is 0.
type matrix struct {
	rows, stride int
	v            []float64
}

func (x *matrix) at(i, j int32) float64     { return x.v[int(i)*x.stride+int(j)] }
func (x *matrix) set(i, j int32, a float64) { x.v[int(i)*x.stride+int(j)] = a }

// row returns the first m entries of a row.
func (x *matrix) row(i int32, m int) []float64 { return x.v[int(i)*x.stride:][:m] }

// grow makes room for n rows of m entries.
func (x *matrix) grow(n, m int) {
	if m > x.stride {
		stride := m + max(few, m/8)
		v := make([]float64, x.rows*stride)
		for i := range x.rows {
			copy(v[i*stride:], x.v[i*x.stride:][:x.stride])
		}
		x.v, x.stride = v, stride
	}
	if n > x.rows { // rows seldom come: no room for more
		v := make([]float64, n*x.stride)
		copy(v, x.v)
		x.v, x.rows = v, n
	}
}

// few is how many more a list of nodes has room for at the least when it grows.
const few = 4

// resized is s, or other memory if that is too small, with room for few more; what is in it is not kept.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}
