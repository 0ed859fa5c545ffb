// Package mapper divides the work of a gang among its ranks.
//
// With c_i seconds for a unit, m_i seconds of messages and room for cap_i units, rank i takes T_i = m_i + c_i·n_i for
// n_i units, and n_0 + … = N. A mapper knows nothing else of an application:
//
//   - equal gives each rank the same [1, section IV.C.1];
//   - time_balance makes all T_i equal, or equal within a part R as small as can be had [1, section IV.C.2];
//   - min_max makes the largest T_i the least. It is as fast as time_balance where R is 0, and never slower. [1] says
//     that a maximum is no linear objective; with a further variable T ≥ T_i to minimise it is.
//
// [1] solves a linear programme for each R. For a given R the bounds of all n_i are linear in n_0, so that its optimum
// is found directly.
//
// Sources:
//
//	[1] H. J. Dail, A Modular Framework for Adaptive Scheduling in Grid Application Development Environments, MSc
//	    thesis, University of California, San Diego, 2002.
package mapper
