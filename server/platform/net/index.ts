// The one door for outbound HTTP: addresses that users supply, checked; addresses of the operator, plain.
// Used by tools (and whatever else calls what a user named) and, for the operator's own vendors, by models.
// Must not know why anything is called.
export { createOutbound, type Outbound, type OutboundOptions } from './create-outbound.ts';
export type { OutboundRequest, OutboundResponse } from './exchange.ts';
export { OutboundError, type OutboundFailure } from './outbound-error.ts';
export { createTrustedClient, type TrustedClient, type TrustedRequest } from './trusted-client.ts';
export { netSettings } from './net.settings.ts';
