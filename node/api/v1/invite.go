package v1

// InviteRequest says what an invite is to give: certificates of a network that has some.
type InviteRequest struct {
	Name    string   `json:"name" doc:"Of the member; with a number behind it for all but the first."`
	Roles   []string `json:"roles" doc:"run, submit, relay, admin."`
	Uses    int      `json:"uses" doc:"How many nodes may join with it."`
	Expires float64  `json:"expires_seconds" doc:"How long it can be redeemed."`
}

// Invite is what one machine, or several, join with.
type Invite struct {
	Invite string `json:"invite" doc:"Holds secrets: whoever has it can be a member."`
}

// RevokeRequest names a member.
type RevokeRequest struct {
	Node string `json:"node" doc:"The name in its certificate, or its whole ID."`
}

// Revoked is a member that was put out.
type Revoked struct {
	Node string `json:"node"`
	Name string `json:"name"`
}
