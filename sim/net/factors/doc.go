// Package factors finds out which keys of a scenario matter: each factor is a key with a low and a high value, and the
// scenario is run with the combinations of a screening design (package screen), each under the same seeds.
package factors
