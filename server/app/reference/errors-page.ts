import { ERROR_CODES } from '../../../contract/shared/errors.ts';
import type { RouteContract } from '../../../contract/shared/route.ts';
import { page, table } from './table.ts';

/** The answers that carry a message and no code, each as a line. */
function bareRefusals(contracts: readonly RouteContract[]): string {
  return contracts
    .flatMap(({ method, path, errorsWithoutCode = [] }) =>
      errorsWithoutCode.map((code) => `- ${ERROR_CODES[code].status} of \`${method} ${path}\``),
    )
    .join('\n');
}

/** The reference page of the error codes. */
export function errorsPage(contracts: readonly RouteContract[]): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, doc }]) => [`\`${code}\``, String(status), doc]);
  return page('Errors', [
    'Every refusal has the body `{"error": {"code": "...", "message": "..."}}`. The code is for programs and does not change; the message is a sentence for people and may.',
    'Every answer carries `X-Request-Id`, which finds the request in the log of the service.',
    `These refusals carry the message alone:\n\n${bareRefusals(contracts)}`,
    table(['Code', 'Status', 'Meaning'], rows),
  ]);
}
