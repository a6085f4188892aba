/** What a person sees when the service has started: where it is, and what to try. */
export function welcome(facts: { url: string; generatedKey: string | undefined; version: string }): string {
  const { url, generatedKey, version } = facts;
  const key = generatedKey ?? '$TESSERA_KEY';
  const newKey =
    generatedKey === undefined
      ? []
      : ['', `  API key  ${generatedKey}`, '           Store it now: it is shown only this once.'];
  return [
    '',
    `  Tessera ${version} is ready at ${url}`,
    ...newKey,
    '',
    `  Reference  ${url}/docs`,
    '  Try it     register a tool:',
    '',
    `    curl -s ${url}/v1/tools -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '{`,
    `      "name": "server_status", "description": "Tells whether the server is up.",`,
    `      "execution": {"type": "http", "method": "GET", "url": "${url}/healthz"}}'`,
    '',
    '             and ask a question that needs it (with a model key set, see README):',
    '',
    `    curl -s ${url}/v1/ai/chat -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\`,
    `      -d '{"message": "Is the server up?"}'`,
    '',
  ].join('\n');
}
