package advice

import (
	"slices"
	"strings"
)

// Word is a set of the words by which the tables describe a feature of a system: bit k is the k-th of the feature's
// words. The zero set says nothing: the feature is not known, or does not matter.
type Word uint8

// Words of the features.
const (
	Completion Word = 1 << iota // purpose: equal bids, a short mean completion time
	Bids                        // different bids, a short completion time weighted by them
	Hard                        // done by the deadline, weighted by the bids
	Soft                        // much value, which falls with time

	Tight, Moderate, Loose  Word = 1, 2, 4    // deadlines
	Equal, Unequal          Word = 1, 2       // speeds of the servers
	None, Low, Medium, High Word = 1, 2, 4, 8 // delays, load, background, bursts
	Few, Many               Word = 1, 2       // servers
	Identical, Variable     Word = 1, 2       // sizes of the tasks
	Fine, Coarse            Word = 1, 2       // background: its tasks take a part of a machine, or all of it
	ByTime, ByProcessors    Word = 1, 2       // a machine's owner goes first, or has processors of his own
)

// Features are a system, or what a row is about.
type Features struct {
	Purpose    Word
	Deadlines  Word
	Speeds     Word
	Delays     Word
	Servers    Word
	Load       Word
	Background Word // its part of the load
	Grain      Word // of the background
	Bursts     Word
	Sharing    Word
	Sizes      Word
}

// feature is one of them.
type feature struct {
	name  string
	of    func(*Features) *Word
	words []string
}

var amounts = []string{"none", "low", "medium", "high"}

// features are all, in the order of the tables' columns. A difference in an earlier one is worse.
var features = []feature{
	{"purpose", func(f *Features) *Word { return &f.Purpose }, []string{"completion", "bids", "hard", "soft"}},
	{"deadlines", func(f *Features) *Word { return &f.Deadlines }, []string{"tight", "moderate", "loose"}},
	{"speeds", func(f *Features) *Word { return &f.Speeds }, []string{"equal", "unequal"}},
	{"delays", func(f *Features) *Word { return &f.Delays }, amounts},
	{"servers", func(f *Features) *Word { return &f.Servers }, []string{"few", "many"}},
	{"load", func(f *Features) *Word { return &f.Load }, amounts},
	{"background", func(f *Features) *Word { return &f.Background }, amounts},
	{"grain", func(f *Features) *Word { return &f.Grain }, []string{"fine", "coarse"}},
	{"bursts", func(f *Features) *Word { return &f.Bursts }, amounts},
	{"sharing", func(f *Features) *Word { return &f.Sharing }, []string{"time", "processors"}},
	{"sizes", func(f *Features) *Word { return &f.Sizes }, []string{"identical", "variable"}},
}

// parse reads words that are parted by slashes; what is no word of the feature says nothing.
func (f *feature) parse(text string) (w Word) {
	for s := range strings.SplitSeq(text, "/") {
		if k := slices.Index(f.words, s); k >= 0 {
			w |= 1 << k
		}
	}
	return w
}

// text names the words of a set.
func (f *feature) text(w Word) string {
	var names []string
	for k, s := range f.words {
		if w&(1<<k) != 0 {
			names = append(names, s)
		}
	}
	return strings.Join(names, " or ")
}

// PurposeOf returns the purpose of a name: completion, bids, hard or soft; 0 = it is none.
func PurposeOf(name string) Word { return features[0].parse(name) }

// Purposes lists the names of the purposes.
func Purposes() []string { return features[0].words }

// WordOf returns the words that hold of a feature, by its name; "" = it is not known.
func WordOf(f *Features, name string) string {
	for k := range features {
		if features[k].name == name {
			return features[k].text(*features[k].of(f))
		}
	}
	return ""
}
