package wire

import (
	"testing"

	"skep/grid"
)

func BenchmarkAppend(b *testing.B) {
	for _, k := range []grid.Kind{grid.KindPoll, grid.KindState, grid.KindBeat, grid.KindOffer, grid.KindResult,
		grid.KindDigest} {
		b.Run(k.String(), func(b *testing.B) {
			var c Codec
			var m grid.Message
			exampleMessage(b, k, &m)
			buf := make([]byte, 0, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Append(buf, &m, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, k := range []grid.Kind{grid.KindPoll, grid.KindState, grid.KindBeat, grid.KindOffer, grid.KindResult,
		grid.KindDigest} {
		b.Run(k.String(), func(b *testing.B) {
			var c Codec
			var m grid.Message
			frame := example(b, k)
			known := func([]byte) (*grid.Ad, error) { return nil, nil }
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Decode(frame, &m, known); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAd(b *testing.B) {
	key := testKey(1)
	ad := exampleAd(key)
	sealed, err := Seal(key, ad)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			Seal(key, ad)
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			Open(sealed)
		}
	})
}
