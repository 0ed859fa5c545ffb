// Package chart draws plain charts as SVG and PNG: curves over two axes, with error bars where they have intervals, and
// bars.
//
// The central idea is that a report needs few pictures, all alike: axes with round steps, one colour for
// each curve, a legend, the unit in the title, nothing that needs a browser's script.
package chart
