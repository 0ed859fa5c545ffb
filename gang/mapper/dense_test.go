package mapper

import "gonum.org/v1/gonum/mat"

// dense is a matrix by rows.
type dense struct {
	rows, columns int
	of            []float64
}

// Dims implements mat.Matrix.
func (d dense) Dims() (int, int) { return d.rows, d.columns }

// At implements mat.Matrix.
func (d dense) At(i, j int) float64 { return d.of[i*d.columns+j] }

// T implements mat.Matrix.
func (d dense) T() mat.Matrix { return mat.Transpose{Matrix: d} }
