// Package prefix writes streams that come at the same time line by line, so that each line can be told apart.
package prefix
