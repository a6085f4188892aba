/** What a person sees once in the life of an installation: the first key. */
export function newKeyNotice(key: string): string {
  return ['', `  API key  ${key}`, '           Store it now: it is shown only this once.'].join('\n');
}

/** What a person sees when the service has started: where it is, and what to try. */
export function welcome(facts: { url: string; generatedKey: string | undefined; version: string }): string {
  const { url, generatedKey, version } = facts;
  const key = generatedKey ?? '$TESSERA_KEY';
  // Double quotes let the shell put the key in.
  const curl = (path: string): string =>
    `curl -s ${url}${path} -H "X-API-Key: ${key}" -H 'Content-Type: application/json'`;
  return [
    '',
    `  Tessera ${version} is ready at ${url}`,
    '',
    `  Reference  ${url}/docs`,
    '  Try it     register a tool:',
    '',
    `    ${curl('/v1/tools')} -d '{`,
    `      "name": "server_status", "description": "Tells whether the server is up.",`,
    `      "execution": {"type": "http", "method": "GET", "url": "${url}/healthz"}}'`,
    '',
    '             and ask a question that needs it (with a model key set, see README):',
    '',
    `    ${curl('/v1/ai/chat')} \\`,
    `      -d '{"message": "Is the server up?"}'`,
    '',
  ].join('\n');
}
