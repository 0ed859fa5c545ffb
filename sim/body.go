package sim

import "skep/grid"

// body is a message on its way. Its event holds its name, and the memory is used again.
type body struct {
	msg  grid.Message
	from int32
	conn int32
	gen  uint32
	next int32 // of the unused
}

// bodies are all messages on their way, in pages that stay where they are, named from 1.
type bodies struct {
	pages  []*[bodyPage]body
	unused int32
}

const bodyPage = 64

func (p *bodies) at(i int32) *body { return &p.pages[i/bodyPage][i%bodyPage] }

// take returns the name of an unused body, which still has the memory of its slices.
func (p *bodies) take() int32 {
	if p.unused == 0 {
		page := new([bodyPage]body)
		p.pages = append(p.pages, page)
		base := int32(len(p.pages)-1) * bodyPage
		for i := int32(bodyPage) - 1; i >= 0; i-- {
			if base+i != 0 { // 0 names no body
				page[i].next, p.unused = p.unused, base+i
			}
		}
	}
	i := p.unused
	p.unused = p.at(i).next
	return i
}

// free gives a body back, and lets go of what it shared with others.
func (p *bodies) free(i int32) {
	b := p.at(i)
	b.msg.Reset(0)
	b.next, p.unused = p.unused, i
}
