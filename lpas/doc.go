// Package lpas solves the allocation LP of LP-based affinity scheduling: how much of each machine
// should go to each class of tasks so that all arrival rates could grow by the largest common factor.
// It is mathematics only: it knows no node, no clock and no policy.
//
// # The problem
//
// N classes arrive at rates alpha_i, machine j runs class i at rate mu_ij and has c_j to give. The LP
// of [1, sections 2.2, 3.2, 4.2] finds shares delta_ij ≥ 0 that
//
//	maximise lambda,  Σ_j delta_ij·mu_ij ≥ lambda·alpha_i for each i,  Σ_i delta_ij ≤ c_j for each j.
//
// A policy reads off it the set of machines that a class may use, S_i = {j : delta_ij > 0}. There are
// three readings of "the" optimum, all with the same lambda: [Vertex], with few shares; [Merged], even
// among identical machines; [MaxSupport], with all pairs that some optimum could use.
//
// # The idea
//
// The dual is the minimum of a convex, piecewise linear function of N prices,
//
//	lambda* = min { Σ_j c_j·max_i y_i·mu_ij : y ≥ 0, Σ_i alpha_i·y_i = 1 },
//
// in which a machine goes to the class that values it most. A vertex of it is a set of N−1 ties,
// machines that two or more classes value equally, which connect the classes to a tree; everything else
// belongs to one class. The ties fix all prices up to a factor, and the shares of the tied machines
// follow leaf by leaf. If one of them is negative, the tie is cut, the prices of the poorer side rise
// together until the balance is right, and the machine at which that happens becomes the new tie. This
// is a dual simplex method [2, 3] whose basis is a tree [4] and whose step passes many breakpoints [5];
// its cost is one pass over the rows of the side that rises. It needs about N to 4N such passes from
// nothing, and few or none from the ties of the last solve. DESIGN.md has the details.
//
// # Use
//
// A caller keeps a [Basis] for each problem that it solves again and again, borrows a [Workspace], and
// reuses a [Solution]. Nothing allocates after the first solves. The result depends on the problem and
// the basis alone, bit for bit on one architecture; work is bounded by pivots, never by time.
//
// # Sources
//
// [1] I. Al-Azzoni, PhD thesis, McMaster University, May 2009: the LP in sections 2.2, 3.2 and 4.2, the
// optimum that is even within groups in 2.2.2, the interior optimum in 3.4.5.
//
// [2] C. E. Lemke, "The dual method of solving the linear programming problem", Naval Research Logistics
// Quarterly 1, 1954.
//
// [3] G. B. Dantzig, R. M. Van Slyke, "Generalized upper bounding techniques", Journal of Computer and
// System Sciences 1, 1967.
//
// [4] R. K. Ahuja, T. L. Magnanti, J. B. Orlin, "Network Flows", Prentice Hall, 1993, chapters 11 and 15.
//
// [5] I. Maros, "A generalized dual phase-2 simplex algorithm", European Journal of Operational Research
// 149, 2003.
package lpas
