package p2p

import "fmt"

// openNetwork creates the host and everything that uses it; nothing is dialled or served yet.
func (d *Driver) openNetwork(addrs []string) (err error) {
	d.onClose(func() { d.work.Wait() }) // after the host is closed, which ends whatever blocks on a stream
	if d.ownAddrs, err = parseAnnounced(d.cfg.Announce); err != nil {
		return err
	}
	d.dialBudget, d.dialer = newDialBudget(d), newDialer(d)
	if d.host, err = newHost(d.key, d.secret, d.cfg.Listen, newConnGater(d.cfg.Allow, &d.offences), d.ownAddrs, d.dialBudget); err != nil {
		return err
	}
	d.onClose(func() { d.host.Close() })
	d.peers = newPeers(d)
	d.relays = newRelays(d)
	if err := d.dialer.load(addrs); err != nil {
		return err
	}
	if d.announcer, err = newAnnouncer(d); err != nil {
		return fmt.Errorf("announcements: %w", err)
	}
	d.apiListener = newAPIListener(d)
	return nil
}
