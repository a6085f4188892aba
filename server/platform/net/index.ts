// The one door for outbound HTTP: addresses that users supply, checked; addresses of the operator, plain.
// Used by tools (and whatever else calls what a user named) and, for the operator's own vendors, by models.
// Must not know why anything is called.
export { createOutbound, type Outbound, type OutboundRequest, type OutboundResponse } from './create-outbound.ts';
export { OutboundError } from './outbound-error.ts';
export { explainFailure } from './network-failure.ts';
export { createTrustedClient, type TrustedClient, type TrustedRequest } from './trusted-client.ts';
export { AnswerBody } from './answer-body.ts';
export { readText } from './read-text.ts';
export { netSettings } from './net.settings.ts';
