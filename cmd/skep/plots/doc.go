// Package plots draws what simulations of grids found.
package plots
