/** The message of anything that was thrown, for logs and for wrapping. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === 'string' ? thrown : 'unknown error';
}
