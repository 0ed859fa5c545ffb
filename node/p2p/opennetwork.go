package p2p

import "fmt"

// openNetwork makes the host and everything that uses it; nothing is dialled or served yet.
func (d *Driver) openNetwork(addrs []string) (err error) {
	d.later(func() { d.work.Wait() }) // after the host is gone: whatever blocked on a stream ends
	if d.places, err = parsePlaces(d.cfg.Announce); err != nil {
		return err
	}
	d.dials, d.dialer = newPayer(d), newDialer(d)
	if d.host, err = newHost(d.key, d.secret, d.cfg.Listen, newGate(d.cfg.Allow, &d.offences), d.places, d.dials); err != nil {
		return err
	}
	d.later(func() { d.host.Close() })
	d.peers = newPeers(d)
	d.relays = newRelays(d)
	if err := d.dialer.load(addrs); err != nil {
		return err
	}
	if d.announce, err = newAnnouncer(d); err != nil {
		return fmt.Errorf("announcements: %w", err)
	}
	d.door = newDoor(d)
	return nil
}
