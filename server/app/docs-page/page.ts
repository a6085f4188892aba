/** What the reference may show and do: nothing that leads to, or asks, another address. */
const CONFIGURATION = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  metaData: { title: 'Tessera API' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
};

/** A file of its own, so that the policy below can forbid inline scripts. */
export const START_SCRIPT = `Scalar.createApiReference('#app', ${JSON.stringify(CONFIGURATION)});\n`;

/** The page that loads the reference. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <title>Tessera API</title>
  </head>
  <body>
    <div id="app"></div>
    <noscript>This page needs JavaScript. The same reference for programs is <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/scalar.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Lets the browser ask this origin alone. Styles are inline because the reference makes them as it runs. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
