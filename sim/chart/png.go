package chart

import (
	"bytes"
	"encoding/hex"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is how many dots stand for a pixel of the chart, so that it can be printed.
const scale = 2

// PNG returns the chart as a file.
func (c *Chart) PNG() ([]byte, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	p := raster{img: image.NewRGBA(image.Rect(0, 0, width*scale, height*scale)), font: f, faces: map[float64]font.Face{}}
	c.draw(&p)
	var b bytes.Buffer
	if err := png.Encode(&b, p.img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// raster draws in dots.
type raster struct {
	img   *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face // by size
	area  vector.Rasterizer
}

// shade reads a colour as #1f6fb4.
func shade(s string) image.Image {
	b, _ := hex.DecodeString(s[1:])
	return image.NewUniform(color.RGBA{b[0], b[1], b[2], 255})
}

// fill draws a shape of four, in pixels. Only the dots around it are looked at: a curve is hundreds of small ones.
func (p *raster) fill(colour string, v ...float64) {
	lo, hi := [2]float64{v[0], v[1]}, [2]float64{v[0], v[1]}
	for i := 2; i < len(v); i++ {
		lo[i%2], hi[i%2] = min(lo[i%2], v[i]), max(hi[i%2], v[i])
	}
	around := image.Rect(int(math.Floor(lo[0]*scale)), int(math.Floor(lo[1]*scale)), int(math.Ceil(hi[0]*scale)),
		int(math.Ceil(hi[1]*scale))).Intersect(p.img.Bounds())
	if around.Empty() {
		return
	}
	p.area.Reset(around.Dx(), around.Dy())
	for i := 0; i < len(v); i += 2 {
		x, y := float32(v[i]*scale)-float32(around.Min.X), float32(v[i+1]*scale)-float32(around.Min.Y)
		if i == 0 {
			p.area.MoveTo(x, y)
		} else {
			p.area.LineTo(x, y)
		}
	}
	p.area.ClosePath()
	p.area.Draw(p.img, around, shade(colour), image.Point{})
}

func (p *raster) box(x, y, w, h float64, colour string) {
	if !(w > 0 && h > 0) {
		return
	}
	p.fill(colour, x, y, x+w, y, x+w, y+h, x, y+h)
}

func (p *raster) line(x1, y1, x2, y2 float64, colour string) { p.stroke(x1, y1, x2, y2, 0.5, colour) }

// stroke draws a line of twice the width half.
func (p *raster) stroke(x1, y1, x2, y2, half float64, colour string) {
	d := math.Hypot(x2-x1, y2-y1)
	if !(d > 0) || math.IsInf(d, 0) {
		return
	}
	ax, ay := (x2-x1)/d*half, (y2-y1)/d*half
	x1, y1, x2, y2 = x1-ax/2, y1-ay/2, x2+ax/2, y2+ay/2 // so that lines that meet leave no gap
	p.fill(colour, x1-ay, y1+ax, x2-ay, y2+ax, x2+ay, y2-ax, x1+ay, y1-ax)
}

func (p *raster) curve(x, y []float64, colour string, dash []float64) {
	piece, left := 0, math.Inf(1) // of the pattern, which goes on around corners
	if len(dash) > 0 {
		left = dash[0]
	}
	for i := 1; i < len(x); i++ { // each by itself: where two overlap they are not to cancel each other
		x1, y1 := x[i-1], y[i-1]
		d := math.Hypot(x[i]-x1, y[i]-y1)
		for d > left && !math.IsInf(d, 0) {
			x2, y2 := x1+(x[i]-x1)*left/d, y1+(y[i]-y1)*left/d
			if piece%2 == 0 {
				p.stroke(x1, y1, x2, y2, 0.9, colour)
			}
			x1, y1, d, piece = x2, y2, d-left, piece+1
			left = dash[piece%len(dash)]
		}
		if piece%2 == 0 {
			p.stroke(x1, y1, x[i], y[i], 0.9, colour)
		}
		left -= d
	}
}

func (p *raster) text(x, y float64, a anchor, size float64, upright bool, s string) {
	face := p.faces[size]
	if face == nil {
		var err error
		if face, err = opentype.NewFace(p.font, &opentype.FaceOptions{Size: size * scale, DPI: 72,
			Hinting: font.HintingFull}); err != nil {
			return
		}
		p.faces[size] = face
	}
	long := font.MeasureString(face, s)
	to := p.img
	if upright {
		to = image.NewRGBA(image.Rect(0, 0, long.Ceil(), int(2*size*scale)))
	}
	d := font.Drawer{Dst: to, Src: image.Black, Face: face}
	if !upright {
		d.Dot = fixed.Point26_6{X: fixed.I(int(x*scale)) - long*fixed.Int26_6(a)/2, Y: fixed.I(int(y * scale))}
		d.DrawString(s)
		return
	}
	base := int(size * scale)
	d.Dot.Y = fixed.I(base)
	d.DrawString(s)
	left, bottom := int(x*scale), int(y*scale)+(long*fixed.Int26_6(a)/2).Ceil()
	for i := range to.Rect.Dx() { // a quarter turn to the left
		for k := range to.Rect.Dy() {
			dot := image.Rect(left+k-base, bottom-i, left+k-base+1, bottom-i+1)
			draw.Draw(p.img, dot, to, image.Pt(i, k), draw.Over)
		}
	}
}
