// Package advise finds what the verbs advise and sim advise judge a grid or a simulated market by, and says what
// package advice recommends for it.
package advise
