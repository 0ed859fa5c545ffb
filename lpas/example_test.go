package lpas_test

import (
	"fmt"

	"skep/lpas"
)

// System 2.A of the thesis: machine 1 is faster at everything, and best at class 1; but class 2 needs all
// of it.
func ExampleVertex() {
	p := &lpas.Problem{
		Alpha: []float64{2.45, 2.45},
		Cap:   []float64{1, 1},
		Mu: []float64{
			9, 5, // class 0 on machines 0 and 1
			2, 1, // class 1
		},
	}
	if err := p.Check(); err != nil {
		fmt.Println(err)
		return
	}
	var ws lpas.Workspace // one for many
	var basis lpas.Basis  // one for each problem that is solved again
	var sol lpas.Solution // reused
	for _, alpha := range []float64{2.45, 1.5} {
		p.Alpha[0] = alpha
		lpas.Vertex(p, &basis, &ws, &sol)
		fmt.Printf("lambda %.4f, %v\n", sol.Lambda, sol.Status)
		for _, d := range sol.Delta {
			fmt.Printf("  %.4f of machine %d to class %d\n", d.Part, d.Machine, d.Class)
		}
	}
	// Output:
	// lambda 1.0204, optimal
	//   1.0000 of machine 0 to class 1
	//   0.5000 of machine 1 to class 0
	//   0.5000 of machine 1 to class 1
	// lambda 1.0909, optimal
	//   1.0000 of machine 0 to class 1
	//   0.3273 of machine 1 to class 0
	//   0.6727 of machine 1 to class 1
}
