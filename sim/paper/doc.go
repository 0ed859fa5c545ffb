// Package paper repeats published studies with the simulator and says, number by number, whether it gets
// what was printed.
//
// A study is a folder of data: systems/*.yaml are its systems, in the form that `skep sim queue` reads;
// runs.csv says under which policies and for how long each is run; numbers.csv has what was printed, with
// its table and page; curves.csv what is drawn beside. Each printed number gets a verdict. A number that is
// missed counts against the simulator unless the folder says why, and a number that is damaged in print is
// reported and not judged. The quick form is short enough for a test; the full form has the lengths of the
// source.
//
// Sources:
//
//	[1] I. Al-Azzoni, Linear Programming Based Affinity Scheduling for Heterogeneous Computing
//	    Systems, PhD thesis, McMaster University, 2009.
//	[2] The thesis on discovering resources and on class based dynamic matching on a computing grid; its text names
//	    neither author nor year.
package paper
