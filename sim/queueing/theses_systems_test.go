package queueing

// groups makes a system of groups of machines, with the rates of one machine of each.
func groups(name string, alpha []float64, counts []int, mu ...[]float64) *System {
	s := &System{Name: name, Alpha: alpha, Mu: mu}
	for i := range alpha {
		s.Classes = append(s.Classes, string(rune('1'+i)))
	}
	for _, c := range counts {
		s.Machines = append(s.Machines, Line{Count: c})
	}
	return s
}

func single(name string, alpha []float64, mu ...[]float64) *System {
	return groups(name, alpha, make([]int, len(mu[0])), mu...)
}

// Systems of [1, section 2.2 and Tables 2.2, 2.4].

func system2A() *System {
	return single("2.A", []float64{2.45, 2.45}, []float64{9, 5}, []float64{2, 1})
}

func system2B() *System { return single("2.B", []float64{5, 8}, []float64{8, 3}, []float64{4, 10}) }

func system2C1() *System {
	return groups("2.C1", []float64{45, 45, 40}, []int{10, 9, 6, 5}, []float64{8, 4, 4, 4}, []float64{1, 4, 1, 2},
		[]float64{4, 2, 8, 4})
}

func system2C2() *System {
	return groups("2.C2", []float64{204.1, 68.87, 77.63, 5.01, 10.43}, []int{2, 6, 7, 7, 4, 4},
		[]float64{16.7, 24.8, 24.2, 29, 25.6, 48.3},
		[]float64{30.4, 48.3, 77.7, 83.6, 135.9, 144.9},
		[]float64{18.9, 24.2, 48.3, 45.8, 72.5, 72.5},
		[]float64{3, 3, 7.6, 7.6, 8.3, 8.7},
		[]float64{1, 1.1, 3, 2.9, 3, 3})
}

// sharifnia is the system of [1, section 2.1] that MCT cannot keep in balance.
func sharifnia() *System {
	return single("Sharifnia", []float64{10, 10, 25, 40}, []float64{15.38, 0}, []float64{16.67, 16.67}, []float64{0, 50},
		[]float64{16.67, 200})
}

// Systems of [1, chapter 3].

func system3A() *System {
	return groups("3.A", []float64{11.25, 22.5, 36, 63}, []int{3, 3, 6, 6, 6, 6},
		[]float64{2, 2, 2, 2, 2, 2}, []float64{1, 20, 3.7, 7.1, 2.4, 8.7}, []float64{1, 20, 9.4, 3.7, 7.3, 2.7},
		[]float64{1, 20, 2.8, 5.9, 4.4, 6.3})
}

func system3B() *System {
	s := system4A(false)
	return groups("3.B", []float64{50, 48, 50, 48}, []int{4, 4, 4, 4, 4, 4, 4}, s.Mu...)
}
