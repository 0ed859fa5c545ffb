// Package nesting finds what lies too deep in a YAML file, before the file is parsed.
package nesting
