package lpas

import (
	"bufio"
	"fmt"
	"os"
)

// writeMPS writes the problem as a minimisation of −lambda.
func writeMPS(file string, p *Problem) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	n, m := len(p.Alpha), len(p.Cap)
	fmt.Fprintln(w, "NAME lpas\nROWS\n N obj")
	for i := range n {
		fmt.Fprintf(w, " G c%d\n", i)
	}
	for j := range m {
		fmt.Fprintf(w, " L m%d\n", j)
	}
	fmt.Fprintln(w, "COLUMNS\n lambda obj -1")
	for i, a := range p.Alpha {
		fmt.Fprintf(w, " lambda c%d %.17g\n", i, -a)
	}
	for i := range n {
		for j := range m {
			if mu := p.Mu[i*m+j]; mu > 0 {
				fmt.Fprintf(w, " d%d_%d c%d %.17g\n d%d_%d m%d 1\n", i, j, i, mu, i, j, j)
			}
		}
	}
	fmt.Fprintln(w, "RHS")
	for j, c := range p.Cap {
		fmt.Fprintf(w, " rhs m%d %.17g\n", j, c)
	}
	fmt.Fprintln(w, "ENDATA")
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
