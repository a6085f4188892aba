import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorMessage } from '../errors/index.ts';

/** Certificate and private key, in PEM. */
export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/** Reads a file and tries what it is for; pushes a mistake and gives undefined when either fails. */
function tryFile<T>(setting: { name: string; file: string }, parse: (pem: Buffer) => T, mistakes: string[]) {
  try {
    const pem = readFileSync(setting.file);
    return { pem, parsed: parse(pem) };
  } catch (error) {
    mistakes.push(`${setting.name} cannot be used: ${errorMessage(error)}`);
    return undefined;
  }
}

/** Reads both files; pushes a mistake for what HTTPS could not be served with. */
export function readTlsFiles(files: { cert: string; key: string }, mistakes: string[]): TlsFiles | undefined {
  const cert = tryFile({ name: 'TLS_CERT_FILE', file: files.cert }, (pem) => new X509Certificate(pem), mistakes);
  const key = tryFile({ name: 'TLS_KEY_FILE', file: files.key }, (pem) => createPrivateKey(pem), mistakes);
  if (!cert || !key) return undefined;
  if (!cert.parsed.checkPrivateKey(key.parsed)) {
    mistakes.push('TLS_KEY_FILE is not the private key of the certificate in TLS_CERT_FILE');
    return undefined;
  }
  return { cert: cert.pem, key: key.pem };
}
