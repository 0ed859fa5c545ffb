// Package weighed says why a placement decision came out as it did.
package weighed
