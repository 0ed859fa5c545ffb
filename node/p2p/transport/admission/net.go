package admission

import (
	"net"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Net returns the network of a remote address: the /24 of IPv4, the /56 of IPv6, or the relay.
func Net(a ma.Multiaddr) string {
	if _, err := a.ValueForProtocol(ma.P_CIRCUIT); err == nil {
		relay, err := a.ValueForProtocol(ma.P_P2P)
		if err == nil {
			return "relay " + relay
		}
	}
	ip, err := manet.ToIP(a)
	switch {
	case err != nil:
		return ""
	case ip.To4() != nil:
		return ip.Mask(net.CIDRMask(24, 32)).String()
	}
	return ip.Mask(net.CIDRMask(56, 128)).String()
}
