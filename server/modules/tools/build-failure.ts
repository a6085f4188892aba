/** The tool's definition makes no request, whatever the input; the message says why. */
export class UnbuildableRequest extends Error {}
