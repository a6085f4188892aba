// HTTP: the pipeline every request passes, validation, the error rim, event streams, HTTPS rules.
// Used by app, which builds the server, and by every `*.routes.ts`, which implements contracts.
// Must not know any route, nor how keys are verified or counted: those are handed in.
export { buildServer, stopServer, type HttpServer } from './build-server.ts';
export { implement, implementBytes, implementStream, implementWritten, type Route } from './route.ts';
export type { IncomingBody } from './incoming-body.ts';
export type { AcceptedSocket, SocketRoute } from './socket-route.ts';
export type { Caller, RequestContext } from './request-context.ts';
export type { Allowance, CallRecord, Gatekeeper } from './pipeline.ts';
export { httpSettings, isLoopbackHost, transportOf } from './http.settings.ts';
