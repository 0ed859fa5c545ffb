// Package paper repeats published studies with the simulator and says, number by number, whether it gets
// what was printed.
//
// A study is a folder of data: systems/*.yaml are its systems, in the form that `skep sim queue` reads;
// runs.csv says under which policies and for how long each is run; numbers.csv has what was printed, with
// its table and page; curves.csv what is drawn beside. Each printed number gets a verdict: inside what is
// allowed, outside it, or undecided where our interval is too wide to tell. A number that is missed counts against the
// simulator, and is explained only by something that was run. A number that cannot have been printed so is reported and
// not judged. The quick form is short enough for a test; the full form has the lengths of the
// source.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
//	[2] The thesis on discovering resources and on class based dynamic matching on a computing grid; its text names
//	    neither author nor year.
//	[3] J. M. Gomoluch, Market Protocols for Computational Clusters and Grids, PhD thesis, City University
//	    London, 2004.
//	[4] D. C. Vanderster, Resource Allocation and Scheduling Strategies using Utility and the Knapsack Problem on
//	    Computational Grids, PhD thesis, University of Victoria, 2008.
package paper
